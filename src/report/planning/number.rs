//! Number formats of planning results, with as many digits as are significant.

use sim_analysis::format::thousands;
use sim_analysis::planning::RangeUnit;
use sim_analysis::planning::budget::LossShare;
use sim_base::Duration;

/// Formats a value without rounding, or returns an empty string for `None`.
pub fn exact_value(value: Option<f64>) -> String {
    value.map_or(String::new(), |v| v.to_string())
}

/// Formats a number with up to four significant digits.
pub fn short_value(v: f64) -> String {
    match v.abs() {
        _ if !v.is_finite() => "-".to_owned(),
        0.0 => "0".to_owned(),
        a if a >= 9_999.5 => {
            if v < 0.0 {
                format!("-{}", thousands(a.round() as u64))
            } else {
                thousands(a.round() as u64)
            }
        }
        a if a >= 999.5 => format!("{v:.0}"),
        a if a >= 99.95 => format!("{v:.0}"),
        a if a >= 9.995 => trimmed(format!("{v:.1}")),
        a if a >= 0.9995 => trimmed(format!("{v:.2}")),
        a if a >= 0.001 => trimmed(format!("{v:.4}")),
        _ => format!("{v:.2e}"),
    }
}

fn trimmed(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats a change with its interval, rounded to the precision of the interval: `+0.0042 (0.0007 to 0.0084)`.
pub fn change_with_interval(mean: f64, [low, high]: [f64; 2]) -> String {
    if mean == 0.0 && low == high {
        return "0".to_owned();
    }
    let half = 0.5 * (high - low);
    let rough = if half > 0.0 && half.is_finite() { half } else { mean.abs().max(1e-9) };
    //  Two significant digits of the half width.
    let digits = 1.0 - libm::floor(libm::log10(rough));
    // At most four significant digits of the largest number.
    let largest = mean.abs().max(low.abs()).max(high.abs()).max(1e-9);
    let digits = digits.min(3.0 - libm::floor(libm::log10(largest))).clamp(0.0, 9.0) as usize;
    let sign = if mean > 0.0 { "+" } else { "" };
    format!("{sign}{mean:.digits$} ({low:.digits$} to {high:.digits$})")
}

/// Formats a duration with at most two units: `12m 37s`, `2d 3h`, `5.3s`.
pub fn duration_text(seconds: f64) -> String {
    let rounded = match seconds {
        s if s < 100.0 => (s * 10.0).round() / 10.0,
        s if s < 3_600.0 => s.round(),
        s if s < 86_400.0 => (s / 60.0).round() * 60.0,
        s => (s / 3_600.0).round() * 3_600.0,
    };
    Duration::from_seconds_f64(rounded).to_string()
}

/// Formats a value of a unit: a number or a duration.
pub fn value_with_unit(value: f64, unit: RangeUnit) -> String {
    match unit {
        RangeUnit::Whole | RangeUnit::Number => short_value(value),
        RangeUnit::Seconds => duration_text(value),
    }
}

/// Formats a share in percent. The number of decimals grows with the proximity to 0 % or 100 %.
pub fn percent(share: f64) -> String {
    let off = share.min(1.0 - share).abs() * 100.0;
    match off {
        _ if share == 0.0 => "0 %".to_owned(),
        _ if share == 1.0 => "100 %".to_owned(),
        o if o >= 0.995 => sim_analysis::format::percent(share, 1),
        o if o >= 0.0995 => sim_analysis::format::percent(share, 2),
        o if o >= 0.00095 => sim_analysis::format::percent(share, 4),
        _ if share > 0.5 => "nearly 100 %".to_owned(),
        _ => format!("{share:.2e}"),
    }
}

/// Formats a probability, in scientific notation below about 1 %: `12.1 %`, `3.82e-6`.
pub fn probability(p: f64) -> String {
    match p {
        p if p >= 0.0095 || p == 0.0 => percent(p),
        p => format!("{p:.2e}"),
    }
}

/// Formats an amount of money or another unit of cost: `12.5 USD`, `25,920 node-hours`.
pub fn cost_with_unit(cost: f64, unit: &str) -> String {
    format!("{} {unit}", short_value(cost))
}

/// Formats a share with its interval: `43.0 % (36.1 % to 50.2 %)`.
pub fn share_with_interval(s: LossShare) -> String {
    let [low, high] = s.ci95;
    format!("{} ({} to {})", percent(s.share), percent(low), percent(high))
}
