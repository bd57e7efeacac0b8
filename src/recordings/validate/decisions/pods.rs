//! Compares pods: the number of objects per index and attempt, how each ended, and how often its containers restarted.
//!
//! Pods of NonIndexed Jobs are counted per Job. Names and nodes are random and not compared. Of pods that may have
//! ended either way only the number is compared. Where ties decide which pods end, pods are counted per replicatedJob.

use super::exit_races::{ExitRaces, PodKey};
use crate::{validate::result::RecordedDifference, validate::rows::RecordedPodRow};
use serde_json::{Value, json};
use sim_analysis::metrics::pods::PodMetrics;
use sim_base::SimTime;
use std::collections::BTreeMap;

pub fn compare(pods: &ExitRaces<'_>, has_ties: bool, out: &mut Vec<RecordedDifference>) {
    let mut lives: BTreeMap<PodKey<'_>, [Vec<String>; 2]> = BTreeMap::new();
    for pair in &pods.pairs {
        let (rj, _, _, attempt) = pair.key;
        let key = if has_ties { (rj, 0, 0, attempt) } else { pair.key };
        let [recorded, simulated] = lives.entry(key).or_default();
        if pair.has_exit_race {
            continue;
        }
        recorded.extend(pair.recorded.map(recorded_life));
        simulated.extend(pair.simulated.map(simulated_life));
    }
    for ((rj, job, pod, attempt), mut sides) in lives {
        sides.iter_mut().for_each(|lives| lives.sort_unstable());
        let [recorded, simulated] = sides;
        if recorded != simulated {
            let path = format!("pods {rj}-{job}-{pod} attempt {attempt}");
            let (recorded, simulated): (Value, Value) = (json!(recorded), json!(simulated));
            out.push(RecordedDifference::new(path, recorded, simulated));
        }
    }
}

fn recorded_life(pod: &RecordedPodRow) -> String {
    let end = match pod.phase.as_str() {
        end @ ("Succeeded" | "Failed") => end,
        _ => "not ended",
    };
    life_text(end, pod.container_restarts)
}

fn simulated_life(pod: &PodMetrics) -> String {
    let end = match (pod.finished == SimTime::NEVER, pod.succeeded) {
        (true, _) => "not ended",
        (_, true) => "Succeeded",
        (_, false) => "Failed",
    };
    life_text(end, pod.container_restarts)
}

fn life_text(end: &str, container_restarts: u32) -> String {
    format!("{end}, {container_restarts} container restarts")
}
