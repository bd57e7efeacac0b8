//! Published runs in `scenarios/published/`: the reported values are compared with the model's results.

use crate::support::root;
use sim_analysis::experiment::{FleetReplications, ReplicationLimits, replicate_fleet};
use sim_inputs::{LoadedFleet, parse_fleet, read_source};
use sim_surrogate::fleet::FleetOutcome;

fn load(name: &str, sets: &[(&str, &str)]) -> LoadedFleet {
    let path = root().join("scenarios/published").join(name);
    let sets: Vec<(String, String)> =
        sets.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    let source = read_source(&path).unwrap_or_else(|e| panic!("{e}"));
    parse_fleet(&source, &sets).unwrap_or_else(|e| panic!("{e}"))
}

fn play(loaded: &LoadedFleet, n: u64, threads: usize) -> (Vec<FleetOutcome>, FleetReplications) {
    let seed = loaded.fleet.seed;
    let limits = ReplicationLimits::unlimited();
    let rows = replicate_fleet(&loaded.fleet, (seed, 0..n), (threads, &limits), &|_| {});
    let rows = rows.unwrap_or_else(|e| panic!("{e}"));
    let text = FleetReplications::from_replications((&loaded.fleet, &loaded.parameters), seed, &rows);
    (rows, text)
}

fn mean(text: &FleetReplications, name: &str) -> (f64, [f64; 2]) {
    let matching = text.rows.iter().find(|(n, _)| n == name);
    let (_, e) = matching.unwrap_or_else(|| panic!("no output {name}"));
    (e.mean.unwrap_or(f64::NAN), e.ci95.unwrap_or([f64::NAN; 2]))
}

#[test]
fn runs_of_publications_come_out_as_reported() {
    // File, output, and lower and upper bound of the reported value.
    for (file, output, low, high) in [
        ("llama3-405b.yaml", "restarts", 440.0, 492.0),
        ("llama3-405b.yaml", "effective_training_ratio", 0.90, 1.0),
        ("opt-175b.yaml", "restarts", 70.0, 140.0),
        ("bloom-176b.yaml", "failures", 15.0, 30.0),
        ("megascale.yaml", "effective_training_ratio", 0.90, 1.0),
        ("megascale.yaml", "restarts", 100.0, 120.0),
    ] {
        let (_, text) = play(&load(file, &[]), 40, 0);
        let (mean, _) = mean(&text, output);
        assert!((low..=high).contains(&mean), "{file}: {output} {mean}, reported {low} to {high}");
    }
}

#[test]
fn aire_sim_comes_out_as_its_authors_report() {
    // The report in its repository, commit 7b139c7: 62.2 % of the time is compute, 684.7 systematic failures.
    let loaded = load("airesim.yaml", &[]);
    let (rows, text) = play(&loaded, 12, 0);
    let (_, [low, high]) = mean(&text, "failures_systematic");
    assert!(low < 684.7 && 684.7 < high, "{low} to {high}");
    let (ratio, _) = mean(&text, "effective_training_ratio");
    assert!((ratio - 0.622).abs() < 0.001, "{ratio}");
    for row in &rows {
        let phases: u64 = row.phases_ns.iter().map(|(_, ns)| ns).sum();
        assert_eq!(phases, row.end.0, "the phases add up to the total time");
    }
}

/// The identity holds for extreme parameters as well: in each replication, the phases add up to the total time.
#[test]
fn the_extremes_of_aire_sims_parameters_close_as_well() {
    let few = [
        ("job_size", "64"),
        ("working_pool_size", "72"),
        ("spare_pool_size", "6"),
        ("warm_standbys", "2"),
        ("job_length", "30d"),
        ("random_failure_rate", "1e-4"),
    ];
    for extreme in [
        "spare_pool_size=0",
        "warm_standbys=0",
        "warm_standbys=14",
        "working_pool_size=64",
        "spare_pool_size=0 warm_standbys=0 working_pool_size=64",
        "spare_pool_size=70 working_pool_size=0",
        "job_size=1 working_pool_size=1 warm_standbys=0 spare_pool_size=0",
        "diagnosis_probability=0",
        "diagnosis_uncertainty=1",
        "diagnosis_probability=0 diagnosis_uncertainty=1",
        "removal=life:1",
        "removal=window:1:7d",
        "removal=window:2:7d host_selection=fewest-failures",
        "removal=life:1 spare_pool_size=0 warm_standbys=0 working_pool_size=64",
        "recovery_time=0m host_selection_time=0m preemption_wait_time=0m",
        "auto_repair_time=0m manual_repair_time=0m",
        "prob_auto_to_manual=0 auto_repair_fail_prob=1",
        "prob_auto_to_manual=1 manual_repair_fail_prob=1",
        "systematic_failure_fraction=0",
        "systematic_failure_fraction=1 systematic_failure_rate_multiplier=20",
        "systematic_failure_rate_multiplier=0",
        "random_failure_rate=0",
        "job_length=0d",
        "job_length=1m",
    ] {
        let own = extreme.split(' ').filter_map(|set| set.split_once('='));
        let sets: Vec<(String, &str)> =
            (few.iter().copied().chain(own)).map(|(name, value)| (format!("parameters.{name}"), value)).collect();
        let sets: Vec<(&str, &str)> = sets.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let (rows, text) = play(&load("airesim.yaml", &sets), 6, 0);
        for row in &rows {
            let phases: u64 = row.phases_ns.iter().map(|(_, ns)| ns).sum();
            assert_eq!(phases, row.end.0, "{extreme}");
        }
        let result = |name: &str| mean(&text, name).0;
        match extreme {
            // No node fails, and a job of 30 days needs one host selection.
            "random_failure_rate=0" => {
                assert_eq!((result("failures"), result("host_selections")), (0.0, 1.0));
                assert!((result("training_time_h") - 720.05).abs() < 1e-9);
            }
            "diagnosis_probability=0" => assert_eq!(result("manual_repairs"), 0.0),
            "removal=life:1" => assert_eq!(result("depleted"), 1.0),
            "prob_auto_to_manual=0 auto_repair_fail_prob=1" => {
                assert_eq!((result("manual_repairs"), result("successful_repairs")), (0.0, 0.0));
            }
            "systematic_failure_fraction=0" => assert_eq!(result("failures_systematic"), 0.0),
            "warm_standbys=14" => assert!(result("spares_pulled") <= 6.0),
            _ => {}
        }
    }
}

#[test]
fn every_parameter_of_aire_sim_changes_something() {
    let few = [
        ("parameters.job_size", "64"),
        ("parameters.working_pool_size", "72"),
        ("parameters.spare_pool_size", "6"),
        ("parameters.warm_standbys", "2"),
        ("parameters.job_length", "30d"),
        ("parameters.random_failure_rate", "1e-4"),
    ];
    let digest = |more: Option<(&str, &str)>| {
        let sets: Vec<(&str, &str)> = few.iter().copied().chain(more).collect();
        play(&load("airesim.yaml", &sets), 8, 0).1.digest
    };
    let base = digest(None);
    for (name, value) in [
        ("random_failure_rate", "2e-4"),
        ("systematic_failure_rate_multiplier", "20"),
        ("systematic_failure_fraction", "0.3"),
        ("recovery_time", "30m"),
        ("host_selection_time", "10m"),
        ("job_size", "60"),
        ("job_length", "31d"),
        ("warm_standbys", "4"),
        ("working_pool_size", "80"),
        ("spare_pool_size", "1"),
        ("preemption_wait_time", "30m"),
        ("auto_repair_time", "60m"),
        ("manual_repair_time", "1440m"),
        ("prob_auto_to_manual", "0.5"),
        ("auto_repair_fail_prob", "0.9"),
        ("manual_repair_fail_prob", "0.9"),
        ("diagnosis_probability", "0.8"),
        ("diagnosis_uncertainty", "0.2"),
        ("bad_server_regen_interval", "7d"),
        ("removal", "window:2:7d"),
        ("removal", "life:3"),
        ("host_selection", "fewest-failures"),
    ] {
        let path = format!("parameters.{name}");
        assert_ne!(base, digest(Some((&path, value))), "{name}={value} changes nothing");
    }
}

#[test]
fn field_overrides_its_parameter_and_a_typo_is_reported() {
    let loaded = load("bloom-176b.yaml", &[("job.recovery", "1h")]);
    assert_ne!(loaded.fleet, load("bloom-176b.yaml", &[]).fleet);
    let path = root().join("scenarios/published/bloom-176b.yaml");
    let source = read_source(&path).unwrap_or_else(|e| panic!("{e}"));
    for (set, part) in [
        (("parameters.recovry", "1h"), "did you mean \"recovery\"?"),
        (("job.recovery", "${recovry}"), "did you mean ${recovery}?"),
        (("parameters.recovery", "[1h]"), "a parameter must be a single value"),
        (("parameters.recovery", "-1h"), "negative duration"),
    ] {
        let sets = [(set.0.to_owned(), set.1.to_owned())];
        let refused = parse_fleet(&source, &sets).map(|l| l.fleet).unwrap_err().to_string();
        assert!(refused.contains(part), "{set:?}: {refused}");
    }
}

#[test]
fn results_are_independent_of_threads() {
    let loaded = load("bloom-176b.yaml", &[]);
    assert_eq!(play(&loaded, 9, 1).1.digest, play(&loaded, 9, 2).1.digest);
}
