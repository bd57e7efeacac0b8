//! Reads the generator files of Kueue's performance tests.

use super::read;
use super::schema::check::{UnmodelledFields, check};
use super::schema::definitions::kueue::load_test::KUEUE_LOAD;
use super::schema::field_type::FieldType;
use super::text::diagnostic::{Diagnostic, DiagnosticReport, Diagnostics, SourceText};
use super::text::node::YamlNode;
use super::text::path;
use super::text::path::YamlPath;
use super::text::yaml;
use sim_api::spec::kueue::{
    ClientLimits, KueueBehavior, KueueLoadTest, LoadCohorts, LoadConstraint, LoadLevel, LoadManager, LoadQueues,
    LoadRequestTimes, LoadTemplate, LoadTopology, LoadWorkloads, PreemptionPolicy,
};
use sim_base::Duration;
use std::collections::BTreeMap;

/// Rate limit of Kueue's client in the test (`minimalkueue/main.go`).
const MANAGER: ClientLimits = ClientLimits { requests_per_s: 50.0, burst: 100 };
/// Rate limit of the runner: the default of envtest.
const RUNNER: ClientLimits = ClientLimits { requests_per_s: 1000.0, burst: 2000 };
/// Times of requests in the API server of Kueue's CI.
///
/// Measured with etcd 3.6 and kube-apiserver 1.36.3 on two 2.3 GHz cores. Statuses of queues and Events: the smallest
/// response times of each kind in the tas test. New Workloads and their statuses: the rest of the API server's CPU time
/// of 518 s in the tas test. A new one needs 0.30 of the time of a status: 3.8 of 12.0 ms and 3.7 of 12.8 ms by least
/// squares over intervals of 12 and 7 s, in a third of the tas and of the baseline test on busier cores. Other
/// requests: the creation of 640 nodes with 3,200 requests, one after the other, took 9.0 s.
const REQUESTS: LoadRequestTimes = LoadRequestTimes {
    creation: on_ci(3_200_000),
    workload: on_ci(10_700_000),
    cluster_queue: on_ci(3_200_000),
    local_queue: on_ci(2_500_000),
    event: on_ci(1_400_000),
    other: on_ci(2_800_000),
};
/// Requests that the API server handles at a time: its share of the CPU time of all programs of the baseline test (420
/// of 574 s; etcd 43 s, the runner 39 s, Kueue 72 s), of the 6 CPUs that Kueue's CI gives them (kubernetes/test-infra,
/// jobs of Kueue), in whole CPUs.
const AT_ONCE: usize = 4;
/// Time of a watch in such an environment. Assumed.
const WATCH: Duration = Duration::from_millis(2);
/// Time of a cycle per head. Measured with Kueue's scheduler at ff69552, log level 2, on two 2.3 GHz cores: 3.9 ms for
/// 30 heads that are admitted.
const CYCLE_PER_HEAD: Duration = on_ci(130_000);
/// Capacity of a node without one (`topology_generator.go`), in thousandths; the number of pods is fixed.
const NODE: [(&str, i64); 3] = [("cpu", 96_000), ("memory", 256_000 << 30), ("pods", 110_000)];
/// Most Workloads and nodes of a test.
const LIMIT: u64 = 1_000_000;

/// Returns the time that Kueue's CI needs for what takes a measured time on 2.3 GHz cores. Its CPUs are 1.89 times
/// slower: in the baseline test Kueue took 139.4 s of CPU time there (kubernetes-sigs/kueue, pull request 2067, mean of
/// five runs), and version 0.7.0 takes 73.9 s on those cores.
const fn on_ci(measured_ns: u64) -> Duration {
    Duration(measured_ns * 189 / 100)
}

/// Returns whether a text is a generator file: it has cohorts, which a scenario has not, and no kind.
pub fn is_kueue_load(source: &SourceText) -> bool {
    let has_cohorts = |node: &YamlNode| node.get("kind").is_none() && node.get("cohorts").is_some();
    source.text.contains("cohorts") && yaml::parse(source).is_ok_and(|d| d.len() == 1 && has_cohorts(&d[0]))
}

/// Reads a generator file, with `path=value` overrides.
pub fn parse_kueue_load(source: &SourceText, sets: &[(String, String)]) -> Result<KueueLoadTest, Diagnostics> {
    let mut documents = yaml::parse(source)?;
    let Some(mut node) = documents.pop() else {
        return Err(Diagnostic::of_file(&source.file, "the file is empty".to_owned()).into());
    };
    let overrides = path::overrides_source("--set", sets);
    path::apply_sets(&mut node, &overrides, sets)?;
    let mut report = DiagnosticReport::new(source, &overrides);
    let shape = FieldType::Object(&KUEUE_LOAD);
    check(&node, &shape, &YamlPath::ROOT, &mut report, &mut UnmodelledFields::new());
    if !report.is_readable() {
        return Err(Diagnostics(report.found));
    }
    let test = convert(&node, &source.file, &mut report);
    check_size(&test, &node, &mut report);
    report.finish()?;
    Ok(test)
}

fn convert(node: &YamlNode, file: &str, report: &mut DiagnosticReport) -> KueueLoadTest {
    let flavor = node.get("resourceFlavor");
    let text = |key: &str| flavor.and_then(|flavor| read::string(flavor, key));
    KueueLoadTest {
        name: file.to_owned(),
        topology: node.get("topology").map(topology),
        flavor: text("name").unwrap_or_else(|| "rf".to_owned()),
        flavor_label: text("nodeLabel"),
        cohorts: read::list(node, "cohorts").iter().map(|cohorts| read_cohorts(cohorts, report)).collect(),
        manager: LoadManager {
            behavior: behavior(node, report),
            client: node.get("manager").map_or(MANAGER, |manager| client(manager, MANAGER)),
            requests: REQUESTS,
            at_once: AT_ONCE,
            watch: WATCH,
            cycle_per_head: CYCLE_PER_HEAD,
        },
        runner: node.get("runner").map_or(RUNNER, |runner| client(runner, RUNNER)),
    }
}

fn client(node: &YamlNode, default: ClientLimits) -> ClientLimits {
    ClientLimits {
        requests_per_s: read::number(node, "requestsPerSecond").unwrap_or(default.requests_per_s),
        burst: read::u32_of(node, "burst").unwrap_or(default.burst),
    }
}

/// Returns the behavior of Kueue's main branch on the given day.
fn behavior(node: &YamlNode, report: &mut DiagnosticReport) -> KueueBehavior {
    let Some(day) = node.at_path(&["manager", "mainBranchOn"]) else { return KueueBehavior::default() };
    let text = day.scalar_text().unwrap_or_default();
    let is_digit = |(at, byte): (usize, u8)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() };
    if text.len() != 10 || !text.bytes().enumerate().all(is_digit) {
        report.error(day.at, format!("{text:?} is not a day such as 2026-02-24"));
    }
    KueueBehavior::on(&text)
}

fn topology(node: &YamlNode) -> LoadTopology {
    let level = |level: &YamlNode| LoadLevel {
        name: read::string(level, "name").unwrap_or_default(),
        count: read::u32_of(level, "count").unwrap_or(1),
        label: read::string(level, "nodeLabel").unwrap_or_default(),
    };
    let mut allocatable: BTreeMap<String, i64> = NODE.map(|(name, milli)| (name.to_owned(), milli)).into();
    allocatable.extend(read::list(node, "levels").iter().flat_map(|level| read::quantities(level, "capacity")));
    LoadTopology {
        name: read::string(node, "name").unwrap_or_default(),
        levels: read::list(node, "levels").iter().map(level).collect(),
        allocatable,
    }
}

fn read_cohorts(node: &YamlNode, report: &mut DiagnosticReport) -> LoadCohorts {
    LoadCohorts {
        class: read::string(node, "className").unwrap_or_default(),
        count: read::u32_of(node, "count").unwrap_or(1),
        queues: read::list(node, "queuesSets").iter().map(|queues| read_queues(queues, report)).collect(),
    }
}

fn read_queues(node: &YamlNode, report: &mut DiagnosticReport) -> LoadQueues {
    LoadQueues {
        class: read::string(node, "className").unwrap_or_default(),
        count: read::u32_of(node, "count").unwrap_or(1),
        nominal: amount(node, "nominalQuota").unwrap_or(0),
        borrowing_limit: amount(node, "borrowingLimit"),
        reclaim_within_cohort: policy(node, "reclaimWithinCohort"),
        within_cluster_queue: policy(node, "withinClusterQueue"),
        workloads: read::list(node, "workloadsSets").iter().map(|set| read_workloads(set, report)).collect(),
    }
}

fn read_workloads(node: &YamlNode, report: &mut DiagnosticReport) -> LoadWorkloads {
    LoadWorkloads {
        count: read::u32_of(node, "count").unwrap_or(0),
        interval: milliseconds(node, "creationIntervalMs"),
        templates: read::list(node, "workloads").iter().map(|template| read_template(template, report)).collect(),
    }
}

fn read_template(node: &YamlNode, report: &mut DiagnosticReport) -> LoadTemplate {
    let level = read::string(node, "tasLevel").filter(|level| !level.is_empty());
    let slice = read::u32_of(node, "sliceSize").unwrap_or(0);
    let constraint = level.and_then(|level| match read::string(node, "tasConstraint").as_deref() {
        Some("required") => Some(LoadConstraint::Required(level)),
        Some("preferred") => Some(LoadConstraint::Preferred(level)),
        Some("balanced") if slice == 0 => {
            report.error(node.at, "tasConstraint balanced needs a sliceSize of at least 1".to_owned());
            None
        }
        Some("balanced") => Some(LoadConstraint::Balanced { level, slice }),
        _ => None,
    });
    LoadTemplate {
        class: read::string(node, "className").unwrap_or_default(),
        runtime: milliseconds(node, "runtimeMs"),
        priority: read::i32_of(node, "priority").unwrap_or(0),
        request: amount(node, "request").unwrap_or(0),
        pods: read::u32_of(node, "podCount").filter(|pods| *pods > 0).unwrap_or(1),
        topology: constraint,
    }
}

/// Returns a quantity in thousandths.
fn amount(node: &YamlNode, key: &str) -> Option<i64> {
    sim_base::quantity::parse_milli(&node.get(key)?.scalar_text()?).ok()
}

fn milliseconds(node: &YamlNode, key: &str) -> Duration {
    Duration::from_millis(read::integer(node, key).and_then(|ms| u64::try_from(ms).ok()).unwrap_or(0))
}

fn policy(node: &YamlNode, key: &str) -> PreemptionPolicy {
    match read::string(node, key).as_deref() {
        Some("Any") => PreemptionPolicy::Any,
        Some("LowerPriority") => PreemptionPolicy::LowerPriority,
        Some("LowerOrNewerEqualPriority") => PreemptionPolicy::LowerOrNewerEqualPriority,
        _ => PreemptionPolicy::Never,
    }
}

/// Rejects tests that are too large to simulate.
fn check_size(test: &KueueLoadTest, node: &YamlNode, report: &mut DiagnosticReport) {
    let of_set = |set: &LoadWorkloads| u64::from(set.count).saturating_mul(set.templates.len() as u64);
    let of_queues = |queues: &LoadQueues| {
        let each = queues.workloads.iter().map(of_set).fold(0, u64::saturating_add);
        u64::from(queues.count).saturating_mul(each)
    };
    let of_cohorts = |cohorts: &LoadCohorts| {
        let each = cohorts.queues.iter().map(of_queues).fold(0, u64::saturating_add);
        u64::from(cohorts.count).saturating_mul(each)
    };
    let workloads = test.cohorts.iter().map(of_cohorts).fold(0, u64::saturating_add);
    let levels = test.topology.iter().flat_map(|topology| &topology.levels);
    let nodes = levels.map(|level| u64::from(level.count)).fold(1, u64::saturating_mul);
    for (what, count) in [("Workloads", workloads), ("nodes", nodes)] {
        if count > LIMIT {
            report.error(node.at, format!("{count} {what}; at most {LIMIT} are supported"));
        }
    }
}
