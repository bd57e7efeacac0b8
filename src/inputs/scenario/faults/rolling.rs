//! Reads `rolling`: maintenance of all nodes or domains in turn, in batches and within a daily window.

use crate::{read, text::diagnostic::DiagnosticReport, text::node::YamlNode, topology::node_names};
use sim_api::spec::{FaultsOn, NodePool, RandomFaults, TracedFault};
use sim_base::{Duration, time};

const DAY: Duration = Duration(86_400 * time::NANOS_PER_SECOND);
/// Maximum number of entries, which exceeds the limit of random faults of a run.
const ENTRIES_MAX: usize = 1_100_000;

/// Daily time in which batches may begin.
struct DailyWindow {
    from: Duration,
    lasts: Duration,
}

impl DailyWindow {
    /// Returns the first time within the window from `at` on.
    fn next(&self, at: Duration) -> Duration {
        let since_opening = (at.0 % DAY.0 + DAY.0 - self.from.0 % DAY.0) % DAY.0;
        let wait = if since_opening < self.lasts.0 { 0 } else { DAY.0 - since_opening };
        Duration(at.0.saturating_add(wait))
    }
}

/// Returns the maintenance of each component up to `stop`; empty with an error if the process cannot be rolling.
pub fn schedule(
    (node, rolling): (&YamlNode, &YamlNode), (process, pools): (&RandomFaults, &[NodePool]), stop: Duration,
    report: &mut DiagnosticReport,
) -> Vec<TracedFault> {
    let mut names: Vec<String> = match &process.on {
        FaultsOn::Node => node_names::node_names(pools).collect(),
        FaultsOn::Label(key) => node_names::label_values(pools, key),
        FaultsOn::Accelerator | FaultsOn::Island | FaultsOn::Pod => {
            let at = node.get("on").map_or(rolling.at, |on| on.at);
            report.error(at, "rolling maintenance is of nodes or of domains with a label").legal("Node, {label: KEY}");
            return Vec::new();
        }
    };
    if read::string(rolling, "order").as_deref() == Some("Reverse") {
        names.reverse();
    }
    let outage = node.get("backAfter").and_then(YamlNode::scalar_text).and_then(|text| text.parse::<Duration>().ok());
    let every = read::duration(rolling, "every").or(outage.map(|outage| process.notice + outage));
    let Some(every) = every.filter(|every| *every > Duration::ZERO) else {
        let message = "the time between batches is unknown: set every, or a backAfter of fixed length";
        report.error(rolling.at, message).suggest("every: 1h");
        return Vec::new();
    };
    let window = rolling.get("window").map(|window| DailyWindow {
        from: read::duration(window, "from").unwrap_or_default(),
        lasts: read::duration(window, "lasts").unwrap_or(DAY),
    });
    let batch = read::u32_of(rolling, "batch").unwrap_or(1).max(1) as usize;
    let repeat = read::duration(rolling, "repeatAfter").filter(|period| *period > Duration::ZERO);
    let end = process.until.map_or(stop, |until| until.min(stop));
    let mut all = Vec::new();
    let mut at = process.from;
    while at <= end && all.len() < ENTRIES_MAX {
        let begin = at;
        for batch in names.chunks(batch) {
            at = window.as_ref().map_or(at, |window| window.next(at));
            if at > end {
                break;
            }
            all.extend(batch.iter().map(|name| TracedFault { entity: name.clone(), at, outage: None }));
            at = at + every;
        }
        match repeat {
            Some(period) => at = at.max(begin + period),
            None => break,
        }
    }
    all
}
