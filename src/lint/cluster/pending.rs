//! Traps of pods that stay Pending, as a run with the JobSets decides.
//!
//! The sentence and the smallest change are those of the scheduler; this module must not interpret them.

use super::LintCluster;
use super::domains::without_domains;
use super::placement_trial::TrialVerdict;
use crate::lint_subject::{LintSubject, ReplicatedJobText};
use crate::trap::{JobSetHits, TrapCheck, TrapHit, hit};
use sim_engine::record::PendingPods;
use sim_inputs::text::node::SourcePosition;
use sim_scheduler::Plugin;

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("pods-stay-pending", TrapCheck::Cluster(stay_pending)),
    ("cluster-too-small-together", TrapCheck::ClusterTogether(pending_together)),
];

/// Maximum number of names in a message.
const NAMES_MAX: usize = 5;

/// The Pending pods of a replicatedJob.
struct PendingJob<'a> {
    rj: ReplicatedJobText<'a>,
    first: &'a PendingPods,
    count: usize,
}

impl<'a> PendingJob<'a> {
    fn all(s: &LintSubject<'a>, pending: &'a [PendingPods]) -> Vec<PendingJob<'a>> {
        let of_rj = |rj: ReplicatedJobText<'a>| {
            let groups = || pending.iter().filter(|group| group.replicated_job as usize == rj.index);
            Some(PendingJob { rj, first: groups().next()?, count: groups().map(|group| group.pods.len()).sum() })
        };
        s.rjs().into_iter().filter_map(of_rj).collect()
    }

    /// Returns the number of pods, the sentence of kube-scheduler, and the smallest change.
    fn text(&self) -> String {
        let explanation = &self.first.explanation;
        let change = explanation.change.as_ref().map(|change| format!(" Smallest change: {}", change.text()));
        let (name, pods) = (self.rj.name(), self.rj.pods());
        let pods = if self.count > 0 { format!("{} of {pods} pods", self.count) } else { format!("{pods} pods") };
        let message = explanation.message.trim_end_matches('.');
        format!("{pods} of replicatedJob {name:?}: {message}.{}", change.unwrap_or_default())
    }

    /// Returns the position of the field that the plugin which rejects most nodes reads.
    fn at(&self) -> SourcePosition {
        let rows = self.first.explanation.rejected.iter();
        let plugin = rows.max_by_key(|row| row.nodes()).map(|row| row.plugin);
        let keys: &[&str] = match plugin {
            Some(Plugin::TaintToleration) => &["tolerations"],
            Some(Plugin::NodeAffinity) => &["nodeSelector", "affinity"],
            Some(Plugin::InterPodAffinity) => &["affinity"],
            Some(Plugin::PodTopologySpread) => &["topologySpreadConstraints"],
            Some(Plugin::VolumeBinding | Plugin::VolumeZone | Plugin::VolumeRestrictions) => &["volumes"],
            Some(Plugin::DynamicResources) => &["resourceClaims"],
            _ => &[],
        };
        let key = keys.iter().find(|key| self.rj.pod.get(key).is_some());
        self.rj.pod_at(key.unwrap_or(&"containers"))
    }
}

fn stay_pending(s: &LintSubject, cluster: &LintCluster) -> Vec<TrapHit> {
    let Some(TrialVerdict::Pending(pending, condition)) = cluster.verdict(s) else {
        return Vec::new();
    };
    let other_traps = without_domains(s, cluster);
    let jobs = PendingJob::all(s, pending);
    let own = jobs.iter().filter(|job| !other_traps.contains(&job.rj.index));
    own.map(|job| hit(job.at(), job.text()).under(*condition)).collect()
}

/// Detects JobSets whose pods find a node alone but not together. One hit names all of them.
fn pending_together(all: &[LintSubject], cluster: &LintCluster) -> JobSetHits {
    let pending = all.iter().enumerate().filter_map(|(at, s)| match cluster.verdict(s)? {
        TrialVerdict::PendingTogether(pending) => Some((at, pending)),
        TrialVerdict::Placed | TrialVerdict::Pending(..) => None,
    });
    let pending: Vec<(usize, &Vec<PendingPods>)> = pending.collect();
    let Some((at, groups)) = pending.first() else { return Vec::new() };
    let names = pending.iter().map(|(at, _)| all[*at].jobset.name.as_str());
    let mut names: Vec<&str> = names.collect();
    let more = names.len().saturating_sub(NAMES_MAX);
    names.truncate(NAMES_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let first = PendingJob::all(&all[*at], groups).first().map_or(String::new(), PendingJob::text);
    let detail = format!("pods of JobSet {}{more} stay Pending beside the others; {first}", names.join(", "));
    vec![(*at, hit(all[*at].metadata_at("name"), detail))]
}
