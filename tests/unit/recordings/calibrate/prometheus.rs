//! Tests of `sim_recordings::calibrate::prometheus`.

use sim_recordings::calibrate::prometheus::*;
#[test]
fn buckets_of_all_labels_are_added_up_and_watches_left_out() {
    let mut metrics = PrometheusMetrics::default();
    let line = |verb: &str, le: &str, n: u32| {
        format!(
            "{REQUEST_METRIC}_bucket{{resource=\"pods\",subresource=\"\",verb=\"{verb}\",version=\"v\\\"1\",le=\"{le}\"}} {n}\n"
        )
    };
    let text = [line("POST", "0.1", 3), line("POST", "+Inf", 4), line("WATCH", "0.1", 9)].concat();
    metrics.read(&text).unwrap();
    metrics.read(&text).unwrap();
    assert_eq!(metrics.requests.len(), 1);
    let all = &metrics.requests[&("POST".to_owned(), "pods".to_owned())];
    assert_eq!((all.count(), all.count_above(0.1)), (8.0, 2.0));
}

#[test]
fn what_is_not_a_metric_is_named_by_its_place() {
    let read = |text: &str| PrometheusMetrics::default().read(text).unwrap_err();
    let (line, column, what) = read(&format!("# x\n{REQUEST_METRIC}_bucket{{le=\"1\"}} many"));
    assert_eq!((line, what.as_str()), (2, "value must be a number ≥ 0"));
    assert!(column > 40, "{column}");
    assert_eq!(read(&format!("{REQUEST_METRIC}_bucket{{le=\"1")).2, "label value is not terminated");
    assert!(read("hello").2.contains("neither"));
}
