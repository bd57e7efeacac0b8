//! Unit tests of `sim_report::metric_label`.

use super::*;

#[test]
fn metrics_have_names_units_and_values_for_people() {
    for (metric, currency, axis, value, written) in [
        ("goodput", "", "goodput, %", 0.8531, "85.3 %"),
        ("train.goodput", "", "goodput of train, %", 1.0, "100 %"),
        ("goodput.fleet", "", "goodput of the fleet, %", 0.07, "7 %"),
        ("completed", "", "replications with completed work, %", 0.5, "50 %"),
        ("restartLatency_s.p50", "", "restart duration (median)", 12.34, "12.3 s"),
        ("end.t_s", "", "time until the end of the run", 36_000.0, "10 h 0 min"),
        ("cost.total", "USD", "cost of a run, USD", 1234.0, "1,234 USD"),
        ("cost.total", "", "cost of a run", 1234.0, "1,234"),
        ("cost.idle", "EUR", "cost of accelerator time: idle, EUR", 0.0, "0 EUR"),
        ("ledger.lost", "", "accelerator time: lost, accelerator-hours", 7200.0, "2 accelerator-hours"),
        ("a.lost_s.failed", "", "lost work, cause failed of a", 90.0, "90.0 s"),
        ("training_time_h", "", "training time, h", 12.5, "12.5 h"),
        ("nodeHours.spare", "", "node time: spare, node-hours", 3.0, "3 node-hours"),
        ("restarts", "", "restarts", 12_345.0, "12,345"),
        ("gpu_repairs", "", "GPU repairs", 2.0, "2"),
    ] {
        let label = MetricLabel::new(metric, currency);
        assert_eq!((label.axis().as_str(), label.value(value).as_str()), (axis, written), "{metric}");
    }
}

#[test]
fn labels_of_ticks_are_short_and_their_unit_is_in_the_title() {
    for (metric, tick, written) in [
        ("goodput", 0.85, "85"),
        ("ledger.idle", 36_000.0, "10"),
        ("cost.total", 15_000.0, "15,000"),
        ("end.t_s", 0.0, "0"),
        ("end.t_s", 0.05, "0.05 s"),
        ("end.t_s", 90.0, "90 s"),
        ("end.t_s", -600.0, "-10 min"),
        ("end.t_s", 5_400.0, "1 h 30 min"),
        ("end.t_s", 259_200.0, "3 d"),
    ] {
        assert_eq!(MetricLabel::new(metric, "USD").tick(tick), written, "{metric}");
    }
}

#[test]
fn intervals_and_differences_of_a_metric_keep_to_its_range_and_unit() {
    for (metric, axis, range) in [
        ("goodput", "goodput, percentage points", [0.0, 1.0]),
        ("end.t_s", "time until the end of the run", [0.0, f64::INFINITY]),
        ("cost.total", "cost of a run, USD", [0.0, f64::INFINITY]),
    ] {
        let label = MetricLabel::new(metric, "USD");
        assert_eq!((label.difference_axis().as_str(), label.range()), (axis, range));
    }
    let change = MetricLabel::new("end.t_s", "").change(1235.0, [-1751.0, 4_221.0]);
    assert_eq!(change, "+0.343 h (-0.486 h to 1.17 h)");
}

#[test]
fn parameters_have_names_for_people() {
    for (path, name) in [
        ("training.checkpoint.every", "checkpoint interval"),
        ("jobSets[0].training.checkpoint.every", "checkpoint interval"),
        ("training.checkpoint.tiers[1].every", "checkpoint interval of the tier"),
        ("faultProcesses[0].times", "failure rate factor"),
        ("topology.pools[0].count", "pool count"),
        ("controlPlane.kubeControllerManager.qps", "kube-controller-manager QPS per controller"),
        ("controlPlane.someClient.qps", "some client QPS"),
        ("spec.replicatedJobs[0].replicas", "replicas"),
        ("parameters.spareRacks", "spare racks"),
        ("parameters.every", "every"),
        ("timing.plegPeriod", "PLEG period"),
        ("a.b", "b"),
    ] {
        assert_eq!(parameter_name(path), name, "{path}");
    }
    let shared = parameter_names(&["a.replicas", "b.replicas", "c"]);
    assert_eq!(shared, ["replicas (a.replicas)", "replicas (b.replicas)", "c"]);
}
