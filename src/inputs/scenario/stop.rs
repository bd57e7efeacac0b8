//! Reads `stop`: the end of the run. No fault or submission may be scheduled after it.

use super::faults::PlacedFault;
use crate::{read, text::diagnostic::DiagnosticReport, text::node::SourcePosition, text::node::YamlNode};
use sim_api::spec::{FaultTime, StopSpec, StopWhen, SubmittedJobSet};
use sim_base::Duration;

const DEFAULT_STOP: Duration = Duration::from_secs(24 * 3_600);

/// Reports an error if a run would end before it begins. Fleets and scenarios share this check.
pub(crate) fn is_zero(at: Duration, place: SourcePosition, report: &mut DiagnosticReport) -> bool {
    if at == Duration::ZERO {
        report.error(place, "stop.at is 0: the run would end before it begins");
    }
    at == Duration::ZERO
}

/// Reads the end of the run, and checks that all scripted faults and submissions happen before it.
pub(super) fn read(
    node: &YamlNode, faults: &[PlacedFault], jobsets: &[SubmittedJobSet], report: &mut DiagnosticReport,
) -> StopSpec {
    let stop_node = node.get("stop");
    let place = stop_node.map_or(node.at, |s| s.get("at").map_or(s.at, |a| a.at));
    let at = stop_node.and_then(|s| read::duration(s, "at")).unwrap_or(DEFAULT_STOP);
    let when = stop_node.and_then(|s| s.get("when")).and_then(YamlNode::as_str);
    if is_zero(at, place, report) {
        return StopSpec { at, when: StopWhen::Time };
    }
    for (fault, place) in faults {
        if let FaultTime::At(time) = fault.at
            && time > at
        {
            let message = format!("this fault is at {time}, but the run stops at {at}");
            report.error(*place, message);
        }
    }
    for submitted in jobsets.iter().filter(|s| s.submit_at > at) {
        let name = &submitted.jobset.name;
        let message = format!("JobSet {name:?} is submitted at {}, but the run stops at {at}", submitted.submit_at);
        report.error(place, message);
    }
    StopSpec { at, when: StopWhen::ALL.into_iter().find(|w| when == Some(w.as_str())).unwrap_or(StopWhen::Settled) }
}
