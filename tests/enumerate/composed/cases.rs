//! The small JobSets whose Jobs and pods are enumerated.
//!
//! Every JobSet must be so small that its states are enumerated within a second or two. `everything` lifts this
//! limit.

use super::job_templates::{DELETED, FAILING, KINDS, Kind, setup_of_kind};
use super::setups::Setup;
use sim_api::spec::KubeVersion;

/// Returns setups of one Job with one pod. Every write of a sync is a separate step, and the user changes `suspend`
/// twice.
pub fn one_pod(everything: bool) -> Vec<Setup> {
    let of = |kind: &Kind| Setup {
        switches: 2,
        troubles: 2 + u8::from(everything && !kind.large),
        coarse: kind.large && !everything,
        ..setup_of_kind("rjs: a:1x1, failure: {max: 1}", kind)
    };
    KINDS.iter().map(of).collect()
}

/// Returns setups of one Job with two pods.
pub fn two_pods(everything: bool) -> Vec<Setup> {
    let jobset = "rjs: a:1x2, failure: {max: 1}";
    let coarse = |kind: &Kind| Setup {
        coarse: true,
        troubles: 2 + u8::from(!kind.large),
        switches: if everything && !kind.large { 2 } else { 0 },
        ..setup_of_kind(jobset, kind)
    };
    let fine = |kind: &Kind| Setup { troubles: 1 + u8::from(everything && !kind.large), ..setup_of_kind(jobset, kind) };
    let small = KINDS.iter().filter(|k| everything || !k.large);
    KINDS.iter().map(coarse).chain(small.map(fine)).collect()
}

/// Failure policies of the JobSet, combined with a podFailurePolicy.
const POLICIES: [&str; 5] = [
    "",
    "failure: {max: 1}",
    "failure: {max: 1, strategy: BlockingRecreate}",
    "failure: {max: 1, rules: [{name: r, action: RestartJob}]}",
    "failure: {max: 0, rules: [{name: r, action: RestartJobSetAndIgnoreMaxRestarts, reasons: [PodFailurePolicy]}]}",
];

/// Returns setups of two Jobs with one pod each.
pub fn two_jobs(everything: bool) -> Vec<Setup> {
    let orders = ["", "in_order: true", "depends: [b on a Ready]", "depends: [b on a Complete]"];
    let of_b = orders.into_iter().map(|order| ("a:1 b:1", order));
    let shapes = [("a:2", "")].into_iter().chain(of_b);
    let mut all = Vec::new();
    for (shape, order) in shapes {
        for policy in POLICIES {
            let mut text = format!("rjs: {shape}");
            for more in [order, policy].into_iter().filter(|m| !m.is_empty()) {
                text = format!("{text}, {more}");
            }
            let kind = KINDS.iter().filter(|k| k.name == "podFailurePolicy");
            all.extend(kind.map(|kind| Setup {
                coarse: true,
                troubles: 2,
                switches: if everything { 2 } else { 0 },
                ..setup_of_kind(&text, kind)
            }));
        }
    }
    all
}

/// Returns setups in which the JobSet controller's caches lag behind by any number of events.
pub fn stale_jobsets(everything: bool) -> Vec<Setup> {
    let of = |kind: &Kind| Setup {
        troubles: 2,
        switches: 1,
        coarse: !everything,
        jobset_lags: true,
        ..setup_of_kind("rjs: a:1x1, failure: {max: 1}", kind)
    };
    let two = |policy: &&str| Setup {
        troubles: 2,
        coarse: true,
        faults: if everything { DELETED } else { FAILING },
        jobset_lags: true,
        ..setup_of_kind(&format!("rjs: a:2, {policy}"), &KINDS[0])
    };
    let kinds = KINDS.iter().filter(|k| everything || !k.large);
    kinds.map(of).chain(POLICIES[1..4].iter().map(two)).collect()
}

/// Returns setups in which the Job controller's caches lag behind.
pub fn stale_jobs(everything: bool) -> Vec<Setup> {
    let of = |kind: &Kind| Setup {
        troubles: 1 + u8::from(everything && !kind.large),
        switches: 1,
        job_lags: true,
        ..setup_of_kind("rjs: a:1x1, failure: {max: 1}", kind)
    };
    let two = |kind: &Kind| Setup {
        troubles: 1 + u8::from(everything && !kind.large),
        job_lags: true,
        ..setup_of_kind("rjs: a:1x2, failure: {max: 0}", kind)
    };
    let kinds = || KINDS.iter().filter(|k| everything || !k.large);
    let both = |kind: &Kind| Setup {
        troubles: 2,
        coarse: true,
        jobset_lags: true,
        job_lags: true,
        ..setup_of_kind("rjs: a:1x1, failure: {max: 1}", kind)
    };
    let alone = kinds().map(of).chain(kinds().map(two));
    alone.chain(KINDS[..2].iter().map(both)).collect()
}

/// Returns setups in which the Job controller's caches do not even show its own writes.
pub fn blind_caches() -> Vec<Setup> {
    let of = |kind: &Kind| Setup {
        version: KubeVersion::new(35),
        faults: FAILING,
        switches: 1,
        job_lags: true,
        ..setup_of_kind("rjs: a:1x1, failure: {max: 0}", kind)
    };
    KINDS[..2].iter().map(of).collect()
}

/// Returns setups for Kubernetes 1.30. Before 1.31, a Job is Failed before its pods have terminated.
pub fn old_version() -> Vec<Setup> {
    let of = |kind: &Kind| Setup {
        version: KubeVersion::new(30),
        switches: 0,
        ..setup_of_kind("rjs: a:1x1, failure: {max: 1}", kind)
    };
    KINDS[..3].iter().map(of).collect()
}

/// Returns a setup with a Job that InOrder never resumes.
pub fn in_order() -> Setup {
    Setup { switches: 2, coarse: true, ..Setup::new("rjs: a:1, in_order: true", |j| j.completions = Some(2)) }
}
