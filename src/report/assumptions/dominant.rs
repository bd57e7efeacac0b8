//! Finds the assumptions that a restart time depends on: the defaults behind each wait on its critical path, with
//! their sources.
//!
//! This module contains no default values. The caller passes the presets, and the values used come from the scenario
//! of the run.

use super::attribution::{self, DELAYS, DelayShare, RATES, RateShare};
use sim_analysis::format::{exact_seconds, thousands};
use sim_analysis::metrics::restarts::path::PathStep;
use sim_analysis::metrics::{RestartMetrics, RunView};
use sim_api::spec::{FaultAction, ScriptedFault, TimingSpec};
use sim_base::Duration;
use sim_engine::record::LedgerResource;

/// A default as declared in its preset.
#[derive(Clone, Debug)]
pub struct KnownAssumption {
    /// One of `controlPlane.<preset>.<field>`, `controlPlane.<field>` or `timing.<field>`.
    pub id: String,
    pub value: String,
    pub source: String,
    /// One of `documented`, `measured`, `derived` or `unverified`.
    pub confidence: String,
}

/// All defaults: their declarations, and the default timing profile for comparison.
#[derive(Clone, Debug)]
pub struct AssumedDefaults {
    pub declared: Vec<KnownAssumption>,
    pub timing: TimingSpec,
}

/// An assumption that affects the restart time.
#[derive(Clone, Debug, PartialEq)]
pub struct DominantAssumption {
    /// Short display name.
    pub name: &'static str,
    pub value: String,
    /// The field that sets the value; empty if it cannot be set.
    pub id: String,
    pub source: String,
    pub confidence: String,
    /// Time on the critical path spent waiting for it; zero for assumptions that remove time, such as cached images.
    pub time: Duration,
    /// Text shown in place of a share of the critical path if the share is zero.
    pub text_if_zero: &'static str,
    /// Whether it is a delay of the timing profile.
    pub is_delay: bool,
}

/// Default text for assumptions without a share of the critical path.
const NO_TIME: &str = "no time on the critical path";

/// Source and confidence of values that differ from the defaults.
pub const SET_BY_SCENARIO: (&str, &str) = ("set by the scenario", "given");
/// Assumptions with less than 1/`SMALL` of the critical path are omitted.
const MIN_PATH_FRACTION: u64 = 100;

/// Returns the assumptions behind these restarts in descending order of their time on the critical path. Includes
/// assumptions that remove time: the termination grace period and cached images.
pub fn dominant_assumptions(
    run: &RunView<'_>, restarts: &[&RestartMetrics], defaults: &AssumedDefaults,
) -> Vec<DominantAssumption> {
    let total: u64 = restarts.iter().map(|r| r.path.total().0).sum();
    let on_path = |which: &dyn Fn(&PathStep) -> bool| {
        let steps = restarts.iter().flat_map(|r| &r.path.steps);
        let own = steps.filter(|step| which(step));
        Duration(own.map(|step| step.duration().0).sum())
    };
    let mut all = Vec::new();
    for rate in RATES {
        let time = on_path(&|step| (rate.matches_step)(step));
        if time.0 * MIN_PATH_FRACTION >= total.max(1)
            || (rate.is_always_listed && is_resource_used(run, restarts, rate))
        {
            all.push(rate_assumption(run, rate, time, defaults));
        }
    }
    let (timing, nodes) = (&run.scenario.timing, run.scenario.topology.nodes());
    for delay in DELAYS {
        // Several delays in one wait divide its time.
        let steps = restarts.iter().flat_map(|r| &r.path.steps).filter(|step| (delay.matches_step)(step));
        let parts = steps.map(|step| step.duration().0 as f64 * attribution::share(delay, step, (timing, nodes)));
        let time = Duration(parts.sum::<f64>() as u64);
        if time.0 * MIN_PATH_FRACTION >= total.max(1) {
            all.push(delay_assumption(run, delay, time, defaults));
        }
    }
    if !restarts.is_empty() {
        all.extend(zero_wait_assumptions(run));
    }
    all.sort_by_key(|d| std::cmp::Reverse(d.time));
    all
}

/// Returns whether any request used the resource of `rate` during one of the restarts.
fn is_resource_used(run: &RunView<'_>, restarts: &[&RestartMetrics], rate: &RateShare) -> bool {
    let mut all = run.outcome.resources.iter();
    let usage = all.find(|u| Some(u.resource) == rate.resource);
    usage.is_some_and(|u| {
        let busy = |r: &&RestartMetrics| u.busy_within(r.start, r.end) > Duration::ZERO;
        u.resource == LedgerResource::NodeRequests && u.requests > 0 || restarts.iter().any(busy)
    })
}

fn rate_assumption(
    run: &RunView<'_>, rate: &RateShare, time: Duration, defaults: &AssumedDefaults,
) -> DominantAssumption {
    let cp = &run.scenario.control_plane;
    let value = (rate.value)(cp);
    let known = |id: String| defaults.declared.iter().find(|k| k.id == id);
    let of_preset = known(format!("controlPlane.{}.{}", cp.preset, rate.field));
    let entry = of_preset.or_else(|| known(format!("controlPlane.{}", rate.preset_field)));
    let same = entry.filter(|k| k.value.parse::<f64>() == Ok(value));
    let (source, confidence) = match same {
        Some(k) => (k.source.clone(), k.confidence.clone()),
        None => (SET_BY_SCENARIO.0.to_owned(), SET_BY_SCENARIO.1.to_owned()),
    };
    DominantAssumption {
        name: rate.name,
        value: format!("{}{}", number(value), rate.unit),
        id: format!("controlPlane.{}", rate.field),
        source,
        confidence,
        time,
        text_if_zero: NO_TIME,
        is_delay: false,
    }
}

fn number(value: f64) -> String {
    if value == value.trunc() && value >= 1000.0 { thousands(value as u64) } else { format!("{value}") }
}

fn delay_assumption(
    run: &RunView<'_>, delay: &DelayShare, time: Duration, defaults: &AssumedDefaults,
) -> DominantAssumption {
    let id = format!("timing.{}", delay.field);
    let entry = defaults.declared.iter().find(|k| k.id == id);
    let same = (delay.has_same_value)(&run.scenario.timing, &defaults.timing);
    let (value, source, confidence) = match entry.filter(|_| same) {
        Some(k) => (k.value.clone(), k.source.clone(), k.confidence.clone()),
        None => (String::new(), SET_BY_SCENARIO.0.to_owned(), SET_BY_SCENARIO.1.to_owned()),
    };
    DominantAssumption { name: delay.name, value, id, source, confidence, time, text_if_zero: NO_TIME, is_delay: true }
}

/// Returns assumptions that keep a wait at zero: the grace period of the manifests and cached images.
fn zero_wait_assumptions(run: &RunView<'_>) -> Vec<DominantAssumption> {
    let pods = run.scenario.jobsets.iter();
    let pods = pods.flat_map(|j| &j.jobset.spec.replicated_jobs);
    let graces: Vec<u32> = pods.map(|rj| rj.template.template.spec.termination_grace_period_s).collect();
    let (least, most) = (graces.iter().min(), graces.iter().max());
    let seconds = |s: &u32| exact_seconds(u128::from(*s) * 1_000_000_000);
    let grace = match (least, most) {
        (Some(a), Some(b)) if a != b => format!("{} to {} s", seconds(a), seconds(b)),
        (_, Some(b)) => format!("{} s", seconds(b)),
        _ => return Vec::new(),
    };
    let fails = |fault: &ScriptedFault| matches!(fault.action, FaultAction::FailImagePulls(_));
    let (images, source, confidence) = if run.scenario.faults.iter().any(fails) {
        ("on every node, except for pulls that fail (failImagePulls)", "faults of the scenario", "given")
    } else {
        let source = "image pulls are not modelled; imagePullPolicy Always adds a check (timing.imageCheck)";
        ("cached on every node", source, "assumed")
    };
    vec![
        DominantAssumption {
            name: "termination grace period",
            value: grace,
            id: "terminationGracePeriodSeconds of the pod templates".to_owned(),
            source: "manifests (30 s if not set)".to_owned(),
            confidence: "given".to_owned(),
            time: Duration::ZERO,
            text_if_zero: NO_TIME,
            is_delay: false,
        },
        DominantAssumption {
            name: "images",
            value: images.to_owned(),
            id: String::new(),
            source: source.to_owned(),
            confidence: confidence.to_owned(),
            time: Duration::ZERO,
            text_if_zero: NO_TIME,
            is_delay: false,
        },
    ]
}

/// Delays with less than 1/`MIN_FOOTER_FRACTION` of the critical path are omitted from chart footers.
const MIN_FOOTER_FRACTION: u64 = 20;

/// Returns the footer line of a chart. Distributions are listed by name without their parameters.
pub fn footer_line(deciders: &[DominantAssumption], total: Duration) -> String {
    let is_large_enough = |d: &&DominantAssumption| !d.is_delay || d.time.0 * MIN_FOOTER_FRACTION >= total.0;
    let one = |d: &DominantAssumption| {
        let mut text = d.name.to_owned();
        if !d.value.is_empty() && !d.value.starts_with('{') {
            text.push_str(&format!(" {}", d.value));
        }
        if ["unverified", "assumed"].contains(&d.confidence.as_str()) {
            text.push_str(&format!(" ({})", d.confidence));
        }
        text
    };
    let is_large_enough: Vec<String> = deciders.iter().filter(is_large_enough).map(one).collect();
    if is_large_enough.is_empty() { String::new() } else { format!("depends on: {}", is_large_enough.join("  ·  ")) }
}
