//! Unit tests of `sim_inputs::effective_defaults`.

use super::*;

fn times(value: &str, factor: f64) -> Option<(String, f64)> {
    let used = EffectiveDefault {
        id: "timing.x".to_owned(),
        value: value.to_owned(),
        instead_of: None,
        source: String::new(),
        confidence: String::new(),
        knob: Some(("timing.x".to_owned(), value.to_owned())),
    };
    used.times(factor).map(|t| (t.set.1, t.share))
}

#[test]
fn values_are_scaled_and_what_is_not_a_size_stays() {
    for (value, scaled) in [
        ("1s", "2s"),
        ("0.5", "1"),
        ("{uniform: [0.1, 0.4]}", "{uniform: [0.2, 0.8]}"),
        ("{logNormal: {median: 1h, sigma: 1.5}}", "{logNormal: {median: 2h, sigma: 1.5}}"),
        ("{empirical: {values: [1, 2], weights: [3, 4]}}", "{empirical: {values: [2, 4], weights: [3, 4]}}"),
    ] {
        assert_eq!(times(value, 2.0).map(|t| t.0).as_deref(), Some(scaled));
    }
    assert_eq!(times("4", 1.1), Some(("5".to_owned(), 0.25)));
    assert_eq!(times("1", 0.9), None, "half a worker is not possible");
}

#[test]
fn a_default_is_of_the_preset_and_the_version_in_force() {
    let of = |id: &str, minor: u16| field(id, "stock", KubeVersion::new(minor));
    assert_eq!(of("controlPlane.stock.kubeScheduler.qps", 36).as_deref(), Some("controlPlane.kubeScheduler.qps"));
    assert_eq!(of("controlPlane.kops.kubeScheduler.qps", 36), None);
    let grace = "controlPlane.nodeMonitorGracePeriodSeconds";
    assert_eq!(of(grace, 36).as_deref(), Some(grace));
    assert_eq!(of(grace, 30), None);
    assert_eq!(of(&format!("{grace}.before1.32"), 30).as_deref(), Some(grace));
}
