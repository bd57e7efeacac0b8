//! Distributions as they are written: `2s`, `{uniform: [a, b]}`, `{logNormal: {median, sigma}}`,
//! `{exponential: {mean}}`.

use super::diagnostic::Report;
use super::node::Node;
use super::shape;
use crate::base::Duration;
use crate::base::random::Dist;

const FORMS: &str =
    "2s, {uniform: [low, high]}, {logNormal: {median, sigma}}, {exponential: {mean}}";

/// The field of an object that may be absent: a time that may be drawn, else no time.
pub fn delay(of: Option<&Node>, key: &str, report: &mut Report) -> Dist {
    let Some(node) = of.and_then(|n| n.get(key)) else {
        return Dist::ZERO;
    };
    dist(node).unwrap_or_else(|message| {
        report.error(node.at, message);
        Dist::ZERO
    })
}

/// Reads a checked node; what the shape cannot express is refused here.
pub fn dist(node: &Node) -> Result<Dist, String> {
    if let Some(text) = node.scalar_text() {
        return text.parse::<Duration>().map(Dist::Fixed);
    }
    let [(key, value)] = node.entries() else {
        return Err(format!("a distribution is one of {FORMS}"));
    };
    match key.name.as_str() {
        "uniform" => uniform(value),
        "logNormal" => log_normal(value),
        "exponential" => Ok(Dist::Exponential {
            mean_s: seconds(value, "mean")?,
        }),
        other => Err(format!("unknown distribution {other:?}; {FORMS}")),
    }
}

fn seconds(node: &Node, key: &str) -> Result<f64, String> {
    let value = node.get(key).ok_or_else(|| format!("{key} is missing"))?;
    shape::seconds(value)
}

fn uniform(node: &Node) -> Result<Dist, String> {
    let [low, high] = node.items() else {
        return Err("uniform takes two times, [low, high]".to_owned());
    };
    let (low_s, high_s) = (shape::seconds(low)?, shape::seconds(high)?);
    if low_s > high_s {
        return Err(format!("uniform from {low_s} s to {high_s} s is empty"));
    }
    Ok(Dist::Uniform { low_s, high_s })
}

fn log_normal(node: &Node) -> Result<Dist, String> {
    let has = |key: &str| node.get(key).is_some();
    match (has("median"), has("sigma"), has("p50"), has("p95")) {
        (true, true, false, false) => {
            let sigma = node.get("sigma").and_then(Node::as_f64).unwrap_or(0.0);
            Ok(Dist::LogNormal {
                median_s: seconds(node, "median")?,
                sigma,
            })
        }
        (false, false, true, true) => {
            let (p50, p95) = (seconds(node, "p50")?, seconds(node, "p95")?);
            if p50 <= 0.0 || p95 < p50 {
                return Err(format!(
                    "p50 {p50} s and p95 {p95} s: 0 < p50 <= p95 is legal"
                ));
            }
            Ok(Dist::from_p50_p95(p50, p95))
        }
        _ => Err("logNormal takes {median, sigma} or {p50, p95}".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::diagnostic::Source;
    use crate::manifest::yaml;

    fn read(text: &str) -> Result<Dist, String> {
        let text = text.to_owned();
        let file = "x".to_owned();
        dist(&yaml::parse(&Source { file, text }).unwrap()[0])
    }

    #[test]
    fn each_form_of_a_distribution_is_read() {
        let uniform = Dist::Uniform {
            low_s: 0.1,
            high_s: 2.0,
        };
        assert_eq!(read("{uniform: [100ms, 2]}"), Ok(uniform));
        assert_eq!(read("2s"), Ok(Dist::Fixed(Duration::from_secs(2))));
        assert_eq!(
            read("{logNormal: {p50: 0.002, p95: 0.013}}"),
            Ok(Dist::from_p50_p95(0.002, 0.013))
        );
        assert_eq!(
            read("{exponential: {mean: 1m}}"),
            Ok(Dist::Exponential { mean_s: 60.0 })
        );
    }

    #[test]
    fn impossible_distributions_are_refused() {
        for (text, part) in [
            ("{uniform: [2, 1]}", "is empty"),
            ("{uniform: [1]}", "two times"),
            ("{uniform: [1, 2], exponential: {mean: 1}}", "is one of"),
            ("{logNormal: {median: 1}}", "takes {median, sigma}"),
            ("{logNormal: {p50: 2, p95: 1}}", "is legal"),
            ("{uniform: [.nan, 1]}", "not a number of seconds"),
            ("{}", "is one of"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
