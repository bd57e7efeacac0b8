//! `recording calibrate` recovers planted values and the rates of real recordings, and reports the values that it
//! cannot determine.

mod latencies;
mod preset_files;

use crate::program::{program, scratch};
use crate::support::{cases, files, recordings, root};
use serde_json::{Value as Json, json};
use sim_analysis::metrics::pods::{PodFold, PodMetrics};
use sim_engine::SimulationInput;
use sim_engine::record::{Body, RecordNames, RecordSink, SimulationRecord, TicketWait, WorkTicket};
use sim_recordings::calibrate::{FitResult, FitValue, FittedParameter, PrometheusMetrics, calibrate};
use sim_recordings::validate::{read::read, recording::RecordedRun};

fn parameter<'f>(result: &'f FitResult, id: &str) -> Option<&'f FittedParameter> {
    result.parameters.iter().find(|p| p.id == id)
}

fn number(p: &FittedParameter) -> f64 {
    match &p.value {
        FitValue::Number(n) => *n,
        FitValue::LogNormal(median, _) => *median,
        FitValue::Empirical(values) => values[values.len() / 2],
    }
}

fn contains_planted(p: &FittedParameter, planted: f64) -> bool {
    p.interval[0] <= planted && planted <= p.interval[1]
}

const KCM_QPS: &str = "controlPlane.kubeControllerManager.qps";
const KCM_BURST: &str = "controlPlane.kubeControllerManager.burst";

#[test]
fn the_rates_of_real_recordings_are_found_within_a_twentieth() {
    let (mut seen, mut all) = (0, 0);
    for path in recordings("times").into_iter().step_by(cases(2, 1) as usize) {
        let text = std::fs::read_to_string(&path).expect("a recording");
        let name = path.display().to_string();
        let recording = read(&name, &text).expect("a recording");
        let truth = recording.control_plane.kube_controller_manager;
        let in_place = recording.milestones.as_ref().is_some_and(|m| m.strategy == "InPlaceRestart");
        let result = calibrate(&[(name.clone(), recording)], &PrometheusMetrics::default(), 0.0);
        all += 1;
        // No other client reached its limit: the report states that and contains no rate for it.
        for client in ["kubeScheduler", "jobsetManager"] {
            assert_eq!(parameter(&result, &format!("controlPlane.{client}.qps")), None, "{name}");
            let output = result.unseen.iter().chain(&result.undecided);
            assert!(output.into_iter().any(|t| t.contains(client)), "{name}");
        }
        let Some(qps) = parameter(&result, KCM_QPS) else {
            // With in-place restarts, the Job controller has no work.
            assert!(in_place, "{name}: {:?}", result.unseen);
            continue;
        };
        seen += 1;
        let off = number(qps) / truth.qps - 1.0;
        assert!(off.abs() < 0.05, "{name}: {qps:?}");
        assert!(contains_planted(qps, truth.qps), "{name}: {qps:?}, planted {}", truth.qps);
        let burst = parameter(&result, KCM_BURST).expect("a burst was seen");
        let planted = f64::from(truth.burst);
        assert!(contains_planted(burst, planted), "{name}: {burst:?}, planted {planted}");
    }
    assert!(seen + 1 >= all && seen >= 3, "{seen} of {all}");
}

/// A simulated run with planted values as a recording: lifecycle times of each object, and completion times of
/// requests.
struct Played {
    pods: PodFold,
    log: Vec<Json>,
}

impl RecordSink for Played {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        self.pods.record(record, names);
        let ms = record.at.0 / 1_000_000;
        let what = match record.body {
            Body::JobCreated { .. } => "created",
            Body::JobDeleting { .. } => "deleting",
            Body::JobGone { .. } => "gone",
            _ => return,
        };
        let (Body::JobCreated { job, .. } | Body::JobDeleting { job } | Body::JobGone { job }) = record.body else {
            return;
        };
        let detail = match what {
            "created" => json!("restart-attempt=0"),
            _ => Json::Null,
        };
        self.log.push(json!([ms, "Job", names.job(job), what, detail]));
    }

    fn receives_tickets(&self) -> bool {
        true
    }

    fn ticket(&mut self, ticket: &WorkTicket) {
        let TicketWait::Request(call) = ticket.wait else {
            return;
        };
        let kind = call.kind();
        let what = match (kind.client, kind.resource) {
            ("job-controller", "events") => json!(["Event", "", "job-controller"]),
            // Finalizer and status updates: a recording shows only their times.
            ("job-controller", "jobs/status") => json!(["Job", "js", "counted"]),
            ("job-controller", "pods") if kind.verb == "patch" => json!(["Job", "js", "counted"]),
            _ => return,
        };
        let ms = ticket.to.0 / 1_000_000;
        self.log.push(json!([ms, what[0], what[1], what[2]]));
    }
}

const PLANTED: &str = "
apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata: {name: planted}
topology:
  apiVersion: jobset-sim/v1alpha1
  kind: Topology
  metadata: {name: t}
  pools: [{name: 'n-{node}', count: 1, nodesPerIsland: 250, allocatable: {cpu: 8, memory: 64Gi}}]
controlPlane: {preset: stock, kubeControllerManager: {qps: QPS, burst: BURST}, kubeScheduler: {qps: 500, burst: 500}}
timing:
  containerStart: {logNormal: {median: MEDIAN, sigma: SIGMA}}
  volumes: 0s
  sandbox: 0s
  imageCheck: 0s
jobSets: [{manifest: jobset.yaml}]
containers: [{replicatedJob: w, jobIndex: 0, podIndex: 3, restartAttempt: 0, runFor: 60s, exitCode: 1}]
stop: {at: 10m}
";
const JOBSET: &str = "
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js}
spec:
  failurePolicy: {maxRestarts: 3}
  replicatedJobs:
    - name: w
      replicas: 4
      template:
        spec:
          parallelism: 60
          completions: 60
          completionMode: Indexed
          backoffLimit: 0
          template:
            spec: {restartPolicy: Never, terminationGracePeriodSeconds: 0, containers: [{name: c, image: 'i:1'}]}
";

fn planted_recording(qps: &str, burst: &str, (median, sigma): (&str, &str), seed: u64) -> RecordedRun {
    let text = PLANTED.replace("QPS", qps).replace("BURST", burst);
    let text = text.replace("MEDIAN", median).replace("SIGMA", sigma);
    let scenario = crate::support::parse(&text, JOBSET).expect("the scenario is valid");
    let mut simulation = SimulationInput::new(&scenario).expect("the scenario can run");
    let mut replayed = Played { pods: PodFold::default(), log: Vec::new() };
    simulation.run(seed, 0, &mut replayed);
    let ms = |time: sim_base::SimTime| {
        if time == sim_base::SimTime::NEVER { -1 } else { (time.0 / 1_000_000) as i64 }
    };
    let names = simulation.names();
    let row = |p: &PodMetrics| {
        let job = names.job(p.job);
        let index = job.rsplit('-').next().and_then(|i| i.parse::<u32>().ok());
        json!([
            "w",
            index,
            p.index,
            p.restart_attempt,
            "n",
            ms(p.created),
            ms(p.bound),
            ms(p.ready),
            ms(p.finished),
            ms(p.deleting),
            ms(p.gone),
            "Running",
            0
        ])
    };
    let rows: Vec<Json> = replayed.pods.rows().iter().map(row).collect();
    let json = json!({
        "schema": "jobset-sim/recording/v1", "kind": "decisions", "name": "planted", "playedForMs": 600_000,
        "controlPlane": {"kubernetes": "1.36", "kubeControllerManager": {"qps": 1, "burst": 1},
            "kubeScheduler": {"qps": 1, "burst": 1}, "jobsetManager": {"qps": 1, "burst": 1}, "nodes": 250, "nodesPerPool": 1},
        "jobSet": {"metadata": {"name": "js"}}, "script": {"startMs": 0, "termMs": 0, "termExit": 0, "restartMs": 0},
        "log": replayed.log,
        "podColumns": ["replicatedJob", "jobIndex", "podIndex", "restartAttempt", "node", "createdMs", "boundMs", "readyMs",
            "finishedMs", "deletingMs", "goneMs", "phase", "containerRestarts"],
        "pods": rows,
    });
    read("planted", &json.to_string()).expect("a recording")
}

#[test]
fn planted_rates_and_start_up_times_are_within_the_intervals() {
    for (qps, burst, median, sigma) in [(20.0, 30.0, 6.0, 0.3), (60.0, 40.0, 15.0, 0.6)] {
        let text = |x: f64| x.to_string();
        let recording = planted_recording(&text(qps), &text(burst), (&text(median), &text(sigma)), 7);
        // The kubelet's status write and the API server are part of every start (docs/reference/timing.md).
        let result = calibrate(&[("planted".to_owned(), recording)], &PrometheusMetrics::default(), 0.13);
        let rate = parameter(&result, KCM_QPS).expect("the limit was reached");
        assert!(contains_planted(rate, qps), "{rate:?}");
        assert!((rate.interval[1] - rate.interval[0]) / qps < 0.2, "{rate:?}");
        let bucket = parameter(&result, KCM_BURST).expect("a burst was seen");
        assert!(contains_planted(bucket, burst), "{bucket:?}");
        let start = parameter(&result, "timing.containerStart").expect("pods have started");
        assert!(contains_planted(start, median), "{start:?}");
        let FitValue::LogNormal(_, is) = start.value else {
            panic!("the start-up time is not log-normal: {start:?}");
        };
        let [low, high] = start.sigma_interval.expect("an interval");
        assert!(low <= sigma && sigma <= high, "{is} {low} {high}");
        assert!(result.undecided.iter().any(|u| u.contains("only their sum is observed")));
    }
}

/// Nearly all 95 % intervals contain the planted value: with a probability of 98 %, at most 2 of 12 miss it.
#[test]
fn intervals_hold_what_was_planted_over_many_seeds() {
    let (qps, burst, median, sigma) = (30.0, 40.0, 4.0, 0.35);
    let mut missed = std::collections::BTreeMap::new();
    for seed in 1..=cases(4, 8) {
        let recording = planted_recording("30", "40", ("4", "0.35"), seed);
        let result = calibrate(&[("planted".to_owned(), recording)], &PrometheusMetrics::default(), 0.13);
        let start = parameter(&result, "timing.containerStart").expect("pods have started");
        let [low, high] = start.sigma_interval.unwrap_or([0.0, 0.0]);
        let result = [
            ("qps", parameter(&result, KCM_QPS).is_some_and(|p| contains_planted(p, qps))),
            ("burst", parameter(&result, KCM_BURST).is_some_and(|p| contains_planted(p, burst))),
            ("median", contains_planted(start, median)),
            ("sigma", low <= sigma && sigma <= high),
        ];
        for (what, held) in result {
            *missed.entry(what).or_insert(0) += usize::from(!held);
        }
    }
    assert!(missed.values().all(|n| *n <= 2), "{missed:?}");
}

#[test]
fn phases_are_grouped_by_image_and_pool_with_quantiles() {
    use sim_recordings::calibrate::groups::{GroupKey, groups};
    let recording = planted_recording("60", "40", ("6", "0.3"), 7);
    let all = [("planted".to_owned(), recording)];
    let result = groups(&all, &[GroupKey::Phase], None);
    let start = result.iter().find(|g| g.phase == "start").expect("pods have started");
    let fit = start.log_normal.as_ref().expect("a distribution");
    assert!((fit.median_s - 6.13).abs() < 0.2 && start.confidence == "measured", "{start:?}");
    assert!(start.quantiles_s["p5"] < start.quantiles_s["p95"], "{start:?}");
    // Pods with two images form two groups, and a group with few pods has the confidence `assumed`.
    let mut two = all[0].1.clone();
    two.job_set["spec"]["replicatedJobs"] = json!([
        {"name": "w", "template": {"spec": {"template": {"spec": {"containers": [{"image": "a:1"}]}}}}},
        {"name": "v", "template": {"spec": {"template": {"spec": {"containers": [{"image": "b:1"}]}}}}}]);
    for pod in two.pods.0.iter_mut().take(7) {
        pod.replicated_job = "v".to_owned();
    }
    let result = groups(&[("two".to_owned(), two)], &[GroupKey::Phase, GroupKey::Image, GroupKey::Pool], None);
    let of = |image: &str| {
        let mut of = result.iter().filter(|g| g.phase == "start" && g.image.as_deref() == Some(image));
        of.next().map(|g| (g.n, g.confidence, g.pool.as_deref()))
    };
    assert_eq!(of("b:1"), Some((7, "assumed", Some("?"))));
    assert!(of("a:1").is_some_and(|(n, confidence, _)| n > 200 && confidence == "measured"));
}

#[test]
fn restart_below_the_rate_limit_yields_no_rate() {
    let dir = scratch("calibrate-unheld");
    let out = dir.join("incident.json").display().to_string();
    let kubectl = |file: &str| format!("tests/recordings/kubectl/{file}");
    let [jobsets, jobs, pods, events] =
        ["jobsets", "jobs", "pods", "events"].map(|kind| kubectl(&format!("watch-{kind}.json")));
    let imported = program(&["recording", "import", &jobsets, &jobs, &pods, &events, "--out", &out]);
    let mut imported = imported;
    assert_eq!(imported.output().expect("the run succeeds").status.code(), Some(0));
    let text = std::fs::read_to_string(&out).expect("the file was written");
    let recording = read(&out, &text).expect("a recording");
    let result = calibrate(&[(out, recording)], &PrometheusMetrics::default(), 0.0);
    assert_eq!(parameter(&result, KCM_QPS), None, "{result:?}");
    assert!(result.unseen.iter().any(|u| u.contains("kubeControllerManager.qps")), "{result:?}");
    std::fs::remove_dir_all(&dir).expect("the directory can be removed");
}
