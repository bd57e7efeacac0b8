//! `calibrate` finds again what was planted, and the rates of real recordings; what it cannot see it says.

use crate::program::{program, scratch};
use crate::support::{files, recordings, root};
use jobset_sim::calibrate::{Found, Metrics, Parameter, Value, calibrate};
use jobset_sim::engine::Simulation;
use jobset_sim::manifest;
use jobset_sim::metrics::pods::{PodFold, PodRow};
use jobset_sim::record::{Body, Names, Record, Sink, Ticket, Waited};
use jobset_sim::validate::read::read;
use jobset_sim::validate::recording::Recording;
use serde_json::{Value as Json, json};

fn of<'f>(found: &'f Found, id: &str) -> Option<&'f Parameter> {
    found.parameters.iter().find(|p| p.id == id)
}

fn number(p: &Parameter) -> f64 {
    match &p.value {
        Value::Number(n) => *n,
        Value::LogNormal(median, _) => *median,
        Value::Empirical(values) => values[values.len() / 2],
    }
}

fn within(p: &Parameter, planted: f64) -> bool {
    p.interval[0] <= planted && planted <= p.interval[1]
}

const KCM_QPS: &str = "controlPlane.kubeControllerManager.qps";
const KCM_BURST: &str = "controlPlane.kubeControllerManager.burst";

#[test]
fn the_rates_of_real_recordings_are_found_within_a_twentieth() {
    let (mut seen, mut all) = (0, 0);
    for path in recordings("times") {
        let text = std::fs::read_to_string(&path).expect("a recording");
        let name = path.display().to_string();
        let recording = read(&name, &text).expect("a recording");
        let truth = recording.control_plane.kube_controller_manager;
        let in_place = recording
            .milestones
            .as_ref()
            .is_some_and(|m| m.strategy == "InPlaceRestart");
        let found = calibrate(&[(name.clone(), recording)], &Metrics::default(), 0.0);
        all += 1;
        // Nobody else was held: that is said, and no rate is made of it.
        for client in ["kubeScheduler", "jobsetManager"] {
            assert_eq!(
                of(&found, &format!("controlPlane.{client}.qps")),
                None,
                "{name}"
            );
            let told = found.unseen.iter().chain(&found.undecided);
            assert!(told.into_iter().any(|t| t.contains(client)), "{name}");
        }
        let Some(qps) = of(&found, KCM_QPS) else {
            // In place the Job controller has nothing to do.
            assert!(in_place, "{name}: {:?}", found.unseen);
            continue;
        };
        seen += 1;
        let off = number(qps) / truth.qps - 1.0;
        assert!(off.abs() < 0.05, "{name}: {qps:?}");
    }
    assert!(seen + 1 >= all && seen >= 3, "{seen} of {all}");
}

/// A run with planted values, as a recording: when each object came, and when each request was answered.
struct Played {
    pods: PodFold,
    log: Vec<Json>,
}

impl Sink for Played {
    fn record(&mut self, record: &Record, names: &Names) {
        self.pods.record(record, names);
        let ms = record.at.0 / 1_000_000;
        let what = match record.body {
            Body::JobCreated { .. } => "created",
            Body::JobDeleting { .. } => "deleting",
            Body::JobGone { .. } => "gone",
            _ => return,
        };
        let (Body::JobCreated { job, .. } | Body::JobDeleting { job } | Body::JobGone { job }) =
            record.body
        else {
            return;
        };
        let detail = match what {
            "created" => json!("restart-attempt=0"),
            _ => Json::Null,
        };
        self.log
            .push(json!([ms, "Job", names.job(job), what, detail]));
    }

    fn wants_tickets(&self) -> bool {
        true
    }

    fn ticket(&mut self, ticket: &Ticket) {
        let Waited::Request(call) = ticket.waited else {
            return;
        };
        let kind = call.kind();
        let what = match (kind.client, kind.resource) {
            ("job-controller", "events") => json!(["Event", "", "job-controller"]),
            // Finalizers and statuses: a time is all that is seen of them.
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

fn planted(qps: &str, burst: &str, median: &str, sigma: &str) -> Recording {
    let text = PLANTED.replace("QPS", qps).replace("BURST", burst);
    let text = text.replace("MEDIAN", median).replace("SIGMA", sigma);
    let scenario = crate::support::parse(&text, JOBSET).expect("the scenario is valid");
    let mut simulation = Simulation::new(&scenario).expect("it can run");
    let mut played = Played {
        pods: PodFold::default(),
        log: Vec::new(),
    };
    simulation.run(7, 0, &mut played);
    let ms = |time: jobset_sim::base::Time| match time == jobset_sim::base::Time::NEVER {
        true => -1,
        false => (time.0 / 1_000_000) as i64,
    };
    let names = simulation.names();
    let row = |p: &PodRow| {
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
    let rows: Vec<Json> = played.pods.rows().iter().map(row).collect();
    let json = json!({
        "schema": "jobset-sim/recording/v1", "kind": "decisions", "name": "planted", "playedForMs": 600_000,
        "controlPlane": {"kubernetes": "1.36", "kubeControllerManager": {"qps": 1, "burst": 1},
            "kubeScheduler": {"qps": 1, "burst": 1}, "jobsetManager": {"qps": 1, "burst": 1}, "nodes": 250, "nodesPerPool": 1},
        "jobSet": {"metadata": {"name": "js"}}, "script": {"startMs": 0, "termMs": 0, "termExit": 0, "restartMs": 0},
        "log": played.log,
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
        let recording = planted(&text(qps), &text(burst), &text(median), &text(sigma));
        // The kubelet's status and the API server are part of every start (docs/reference/timing.md).
        let found = calibrate(
            &[("planted".to_owned(), recording)],
            &Metrics::default(),
            0.13,
        );
        let rate = of(&found, KCM_QPS).expect("the limit was reached");
        assert!(within(rate, qps), "{rate:?}");
        assert!(
            (rate.interval[1] - rate.interval[0]) / qps < 0.2,
            "{rate:?}"
        );
        let bucket = of(&found, KCM_BURST).expect("a burst was seen");
        assert!(within(bucket, burst), "{bucket:?}");
        let start = of(&found, "timing.containerStart").expect("pods started");
        assert!(within(start, median), "{start:?}");
        let Value::LogNormal(_, is) = start.value else {
            panic!("it is log-normal: {start:?}");
        };
        let [low, high] = start.sigma_interval.expect("an interval");
        assert!(low <= sigma && sigma <= high, "{is} {low} {high}");
        assert!(
            found
                .undecided
                .iter()
                .any(|u| u.contains("only their sum is seen"))
        );
    }
}

/// Requests as a histogram of the API server, and waits of a client, with a planted distribution.
fn metrics(median: f64, sigma: f64, waits: [u32; 2]) -> String {
    use jobset_sim::base::random::Dist;
    let dist = Dist::LogNormal {
        median_s: median,
        sigma,
    };
    let draw = |i: u32| dist.quantile((f64::from(i) + 0.5) / 2000.0).seconds();
    let mut text = String::from("# TYPE apiserver_request_duration_seconds histogram\n");
    for le in [
        0.005,
        0.025,
        0.05,
        0.1,
        0.2,
        0.4,
        0.6,
        0.8,
        1.0,
        f64::INFINITY,
    ] {
        let n = (0..2000).filter(|i| draw(*i) <= le).count();
        let le = if le.is_finite() {
            le.to_string()
        } else {
            "+Inf".to_owned()
        };
        text.push_str(&format!(
            "apiserver_request_duration_seconds_bucket{{resource=\"pods\",subresource=\"\",verb=\"POST\",le=\"{le}\"}} {n}\n"
        ));
    }
    text.push_str("scheduler_pending_pods 0\n");
    for (le, n) in [("0.005", waits[0]), ("+Inf", waits[1])] {
        text.push_str(&format!(
            "rest_client_rate_limiter_duration_seconds_bucket{{verb=\"POST\",le=\"{le}\"}} {n}\n"
        ));
    }
    text
}

#[test]
fn latencies_come_from_histograms_and_waits_say_whether_a_limit_was_reached() {
    let mut read = Metrics::default();
    read.read(&metrics(0.03, 0.5, [40, 40])).expect("metrics");
    let found = calibrate(&[], &read, 0.0);
    let create = of(&found, "timing.apiPodCreate").expect("the histogram");
    assert!(within(create, 0.03), "{create:?}");
    let [low, high] = create.sigma_interval.expect("an interval");
    assert!(low <= 0.5 && 0.5 <= high && high - low < 0.1, "{create:?}");
    let scheduler = |found: &Found| {
        let told = found.unseen.iter().find(|u| u.contains("kubeScheduler"));
        told.cloned().unwrap_or_default()
    };
    assert!(
        scheduler(&found).contains("never waited for its limit"),
        "{found:?}"
    );
    let mut read = Metrics::default();
    read.read(&metrics(0.03, 0.5, [10, 40])).expect("metrics");
    assert!(scheduler(&calibrate(&[], &read, 0.0)).contains("30 requests waited"));
}

#[test]
fn a_restart_that_no_limit_held_shows_no_rate() {
    let dir = scratch("calibrate-unheld");
    let out = dir.join("incident.json").display().to_string();
    let kubectl = |file: &str| format!("tests/recordings/kubectl/{file}");
    let [jobsets, jobs, pods, events] =
        ["jobsets", "jobs", "pods", "events"].map(|kind| kubectl(&format!("watch-{kind}.json")));
    let imported = program(&["import", &jobsets, &jobs, &pods, &events, "--out", &out]);
    let mut imported = imported;
    assert_eq!(imported.output().expect("it runs").status.code(), Some(0));
    let text = std::fs::read_to_string(&out).expect("it was written");
    let recording = read(&out, &text).expect("a recording");
    let found = calibrate(&[(out, recording)], &Metrics::default(), 0.0);
    assert_eq!(of(&found, KCM_QPS), None, "{found:?}");
    assert!(
        found
            .unseen
            .iter()
            .any(|u| u.contains("kubeControllerManager.qps")),
        "{found:?}"
    );
    std::fs::remove_dir_all(&dir).expect("gone");
}

#[test]
fn a_preset_file_is_written_named_by_a_scenario_and_kept_with_its_run() {
    let dir = scratch("calibrate");
    let preset = dir.join("mine.yaml");
    let recording = files(&root().join("tests/recordings/times"), "json");
    let recording = recording
        .iter()
        .find(|p| p.ends_with("t20-r-4x50.json"))
        .or(recording.first());
    let recording = recording.expect("a recording").display().to_string();
    let metrics = "tests/recordings/kubectl/apiserver-metrics.txt";
    let run = |words: &[&str]| program(words).output().expect("the program runs");
    let shown = preset.display().to_string();
    let done = run(&[
        "calibrate",
        &recording,
        "--metrics",
        metrics,
        "--base",
        "stock",
        "--out",
        &shown,
    ]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let again = run(&["calibrate", &recording, "--out", &shown]);
    assert_eq!(again.status.code(), Some(2), "nothing is written over");
    let source = manifest::read_source(&preset).expect("it was written");
    let (plane, _) = manifest::read_preset(&source).expect("it is valid");
    assert!(plane.kube_controller_manager.qps > 5.0);
    // A scenario beside it: its own words win over the file's.
    std::fs::write(dir.join("jobset.yaml"), JOBSET).expect("written");
    let text = PLANTED.replace(
        "preset: stock, kubeControllerManager: {qps: QPS, burst: BURST}",
        "preset: mine.yaml",
    );
    let text = text.replace("MEDIAN", "2").replace("SIGMA", "0.1");
    let scenario = dir.join("s.yaml");
    std::fs::write(&scenario, text).expect("written");
    let loaded = manifest::read_scenario(&scenario, &[]).expect("a scenario");
    assert_eq!(
        loaded.scenario.control_plane.kube_controller_manager,
        plane.kube_controller_manager
    );
    assert_eq!(loaded.scenario.control_plane.kube_scheduler.qps, 500.0);
    assert!(loaded.inputs.iter().any(|(name, _)| name == "mine.yaml"));
    let validated = run(&[
        "validate", &recording, "--preset", &shown, "--format", "json",
    ]);
    assert_eq!(validated.status.code(), Some(0), "{validated:?}");
    let json: Json = serde_json::from_slice(&validated.stdout).expect("JSON");
    let off = json["recordings"][0]["restart"]["error"]
        .as_f64()
        .expect("an error");
    assert!(off.abs() < 0.1, "{off}");
    // A wrong value is told at its place in the preset file.
    let wrong = source.text.replacen("qps:", "qpps:", 1);
    std::fs::write(&preset, wrong).expect("written");
    let told = manifest::read_scenario(&scenario, &[])
        .expect_err("it is refused")
        .to_string();
    assert!(
        told.contains("mine.yaml:") && told.contains("qpps"),
        "{told}"
    );
    std::fs::remove_dir_all(&dir).expect("gone");
}
