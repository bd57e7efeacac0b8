//! Unit tests of `sim_report::console::compare`.

use super::*;

#[test]
fn cause_named_like_a_headline_is_not_a_headline() {
    for (metric, is_headline) in [("failed", true), ("train.failed", true), ("lost_s.failed", false)] {
        assert_eq!(is_headline_metric(metric, "failed"), is_headline, "{metric}");
    }
}
