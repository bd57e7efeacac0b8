//! Latencies and waits from Prometheus metrics text.

use super::{contains_planted, parameter};
use sim_recordings::calibrate::{FitResult, PrometheusMetrics, calibrate};

/// Returns request durations of the API server and waits of a client as histograms with a planted distribution.
fn metrics(median: f64, sigma: f64, waits: [u32; 2]) -> String {
    use sim_base::random::Distribution;
    let dist = Distribution::LogNormal { median_s: median, sigma };
    let draw = |i: u32| dist.quantile((f64::from(i) + 0.5) / 2000.0).seconds();
    let mut text = String::from("# TYPE apiserver_request_duration_seconds histogram\n");
    for le in [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, f64::INFINITY] {
        let n = (0..2000).filter(|i| draw(*i) <= le).count();
        let le = if le.is_finite() { le.to_string() } else { "+Inf".to_owned() };
        text.push_str(&format!(
            "apiserver_request_duration_seconds_bucket{{resource=\"pods\",subresource=\"\",verb=\"POST\",le=\"{le}\"}} {n}\n"
        ));
    }
    text.push_str("scheduler_pending_pods 0\n");
    for (le, n) in [("0.005", waits[0]), ("+Inf", waits[1])] {
        text.push_str(&format!("rest_client_rate_limiter_duration_seconds_bucket{{verb=\"POST\",le=\"{le}\"}} {n}\n"));
    }
    text
}

#[test]
fn latencies_come_from_histograms_and_waits_say_whether_a_limit_was_reached() {
    let mut read = PrometheusMetrics::default();
    read.read(&metrics(0.03, 0.5, [40, 40])).expect("metrics");
    let result = calibrate(&[], &read, 0.0);
    let create = parameter(&result, "timing.apiPodCreate").expect("the histogram");
    assert!(contains_planted(create, 0.03), "{create:?}");
    let [low, high] = create.sigma_interval.expect("an interval");
    assert!(low <= 0.5 && 0.5 <= high && high - low < 0.1, "{create:?}");
    let scheduler = |result: &FitResult| {
        let text = result.unseen.iter().find(|u| u.contains("kubeScheduler"));
        text.cloned().unwrap_or_default()
    };
    assert!(scheduler(&result).contains("never waited for its limit"), "{result:?}");
    let mut read = PrometheusMetrics::default();
    read.read(&metrics(0.03, 0.5, [10, 40])).expect("metrics");
    assert!(scheduler(&calibrate(&[], &read, 0.0)).contains("30 requests waited"));
}
