//! Writes a calibration as a preset file: the fields of a scenario's `controlPlane` and `timing`, and the source of
//! each.

use super::fit::{FitResult, FitValue, FittedParameter, MIN_MEASURED};
use serde_json::{Map, Value as Json, json};

pub const KIND: &str = "Preset";

/// Rounds to four significant digits. No fitted value is known to more than three.
fn round_to_four_digits(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return 0.0;
    }
    let digits = 4 - libm::floor(libm::log10(x.abs())) as i32 - 1;
    let scale = libm::pow(10.0, f64::from(digits));
    (x * scale).round() / scale
}

fn parameter_json(p: &FittedParameter) -> Json {
    match &p.value {
        FitValue::Number(n) if p.id.ends_with(".burst") => json!(n.round().max(1.0) as u64),
        FitValue::Number(n) => json!(round_to_four_digits(*n)),
        FitValue::LogNormal(median, sigma) => {
            json!({"logNormal": {"median": round_to_four_digits(*median), "sigma": round_to_four_digits(*sigma)}})
        }
        FitValue::Empirical(values) => {
            json!({"empirical": values.iter().map(|v| round_to_four_digits(*v)).collect::<Vec<_>>()})
        }
    }
}

/// Returns the preset document. `base` names the preset that supplies all values that were not fitted.
pub fn preset_document(result: &FitResult, api_version: &str, name: &str, base: &str) -> Json {
    let mut plane = Map::new();
    plane.insert("preset".to_owned(), json!(base));
    let mut timing = Map::new();
    let mut sources = Vec::new();
    for p in &result.parameters {
        match p.id.split('.').collect::<Vec<_>>().as_slice() {
            ["controlPlane", client, field] => {
                let of = plane.entry((*client).to_owned()).or_insert(json!({}));
                of[*field] = parameter_json(p);
            }
            ["timing", field] => {
                timing.insert((*field).to_owned(), parameter_json(p));
            }
            _ => continue,
        }
        let mut source = json!({"id": p.id, "source": p.from, "confidence": confidence(p),
            "interval": p.interval.map(round_to_four_digits)});
        if let Some(interval) = p.sigma_interval {
            source["sigmaInterval"] = json!(interval.map(round_to_four_digits));
        }
        sources.push(source);
    }
    if timing.contains_key("containerStart") {
        for part in ["volumes", "sandbox", "imageCheck"] {
            timing.insert(part.to_owned(), json!("0s"));
        }
    }
    let mut out = json!({"apiVersion": api_version, "kind": KIND, "metadata": {"name": name}, "controlPlane": plane});
    if !timing.is_empty() {
        out["timing"] = timing.into();
    }
    out["sources"] = json!(sources);
    out["undecided"] = json!(result.undecided);
    out["unseen"] = json!(result.unseen);
    out
}

pub fn confidence(p: &FittedParameter) -> &'static str {
    if p.n >= MIN_MEASURED { "measured" } else { "unverified" }
}
