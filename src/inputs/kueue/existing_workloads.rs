//! Reads `existingWorkloads`: the run times of the jobs of Workloads that exist at the start.

use crate::text::diagnostic::{DiagnosticReport, Diagnostics};
use crate::{dist, read, text::node::YamlNode};
use sim_api::spec::ScenarioSpec;
use sim_api::spec::kueue::StoredWorkload;

/// Sets the run times of Workloads other than those of the JobSets. The first rule that fits applies, and each rule
/// must fit one.
pub fn add_run_times(
    node: &YamlNode, scenario: &mut ScenarioSpec, mut report: DiagnosticReport,
) -> Result<(), Diagnostics> {
    let jobsets = &scenario.jobsets;
    let all = scenario.kueue.iter_mut().flat_map(|kueue| &mut kueue.workloads);
    let mut workloads: Vec<&mut StoredWorkload> = all.filter(|w| !w.is_of_any(jobsets)).collect();
    let mut is_set = vec![false; workloads.len()];
    for entry in read::list(node, "existingWorkloads") {
        let (name, queue) = (read::string(entry, "name"), read::string(entry, "localQueue"));
        let namespace = read::string(entry, "namespace");
        let run_time = entry.get("runTime").map(|_| dist::delay(Some(entry), "runTime", &mut report));
        let named = |want: &Option<String>, have: &str| want.as_deref().is_none_or(|want| want == have);
        let mut fits_one = false;
        for (workload, is_set) in workloads.iter_mut().zip(&mut is_set) {
            let fits = named(&name, &workload.name)
                && named(&namespace, &workload.namespace)
                && named(&queue, &workload.queue);
            fits_one |= fits;
            if fits && !std::mem::replace(is_set, true) {
                workload.run_time.clone_from(&run_time);
            }
        }
        if !fits_one {
            let key = ["name", "localQueue", "namespace"].into_iter().find_map(|key| entry.get(key));
            let message = "the inputs contain no such Workload of a job other than the JobSets";
            let error = report.error(key.map_or(entry.at, |key| key.at), message);
            let known: Vec<&str> = match (&name, &queue) {
                (Some(_), _) => workloads.iter().map(|w| w.name.as_str()).collect(),
                (None, Some(_)) => workloads.iter().map(|w| w.queue.as_str()).collect(),
                (None, None) => workloads.iter().map(|w| w.namespace.as_str()).collect(),
            };
            let wanted = name.or(queue).or(namespace).unwrap_or_default();
            error.nearest(&wanted, known);
        }
    }
    report.finish()
}
