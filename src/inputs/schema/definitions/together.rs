//! Rules between the fields of one object.

use super::faults::ACTIONS;
use super::rate::RATES;

/// A rule between the fields of one object. `what` describes the purpose of the fields in messages.
#[derive(Copy, Clone)]
pub enum FieldConstraint {
    /// Exactly one of the fields is required.
    One { what: &'static str, of: &'static [&'static str] },
    /// At least one of the fields is required.
    Some { what: &'static str, of: &'static [&'static str] },
    /// The two fields are mutually exclusive.
    NotBoth(&'static str, &'static str),
    /// Exactly the fields of one of these sets are required; other combinations cannot be read.
    OneSet(&'static [&'static [&'static str]]),
    /// The first field requires the second one. The text explains why.
    Needs(&'static str, &'static str, &'static str),
    /// The first field replaces the others, which must be absent. The text names the first field in messages.
    Replaces(&'static str, &'static [&'static str], &'static str),
}

impl FieldConstraint {
    /// Returns whether the rule refers to the field.
    pub fn names(&self, field: &str) -> bool {
        match self {
            FieldConstraint::One { of, .. } | FieldConstraint::Some { of, .. } => of.contains(&field),
            FieldConstraint::NotBoth(first, second) => [*first, *second].contains(&field),
            FieldConstraint::OneSet(sets) => sets.iter().any(|set| set.contains(&field)),
            FieldConstraint::Needs(this, other, _) => [*this, *other].contains(&field),
            FieldConstraint::Replaces(this, others, _) => *this == field || others.contains(&field),
        }
    }
}

const ONE_CAUSE: [FieldConstraint; 3] = [
    FieldConstraint::Some { what: "a cause", of: &["cause", "preset"] },
    FieldConstraint::NotBoth("cause", "preset"),
    FieldConstraint::Needs("causes", "preset", "the field selects causes of a preset"),
];

const ONE_RATE: [FieldConstraint; 3] = [
    FieldConstraint::NotBoth("mtbf", "perMinute"),
    FieldConstraint::NotBoth("mtbf", "per1000NodeDays"),
    FieldConstraint::NotBoth("perMinute", "per1000NodeDays"),
];

/// Returns the rules for objects of a kind.
pub fn together(kind: &str) -> &'static [FieldConstraint] {
    use FieldConstraint::*;
    match kind {
        "Fault" => &[One { what: "a time", of: &["at", "afterReady"] }, One { what: "an action", of: &ACTIONS }],
        "FaultProcess" => &[
            ONE_CAUSE[0],
            ONE_CAUSE[1],
            ONE_CAUSE[2],
            ONE_RATE[0],
            ONE_RATE[1],
            ONE_RATE[2],
            Some { what: "a rate", of: &["mtbf", "perMinute", "per1000NodeDays", "trace", "preset"] },
            Replaces("trace", &RATES, "a trace"),
            Replaces("trace", &["preset", "times", "distribution"], "a trace"),
            Replaces("trace", &["onlyLemons", "ages"], "a trace"),
        ],
        "RandomFaults" => &[
            ONE_CAUSE[0],
            ONE_CAUSE[1],
            ONE_CAUSE[2],
            ONE_RATE[0],
            ONE_RATE[1],
            ONE_RATE[2],
            Some { what: "a rate", of: &["mtbf", "perMinute", "per1000NodeDays", "trace", "rolling", "preset"] },
            Replaces("trace", &RATES, "a trace"),
            Replaces("trace", &["preset", "times", "distribution"], "a trace"),
            Replaces("trace", &["from", "until", "lemons", "comesBack", "ages"], "a trace"),
            Replaces("rolling", &RATES, "rolling maintenance"),
            Replaces("rolling", &["trace", "preset", "times", "distribution"], "rolling maintenance"),
            Replaces("rolling", &["lemons", "comesBack", "ages"], "rolling maintenance"),
            Needs("comesBack", "backAfter", "without it, nodes are never repaired"),
        ],
        "Pool" => &[NotBoth(super::topology::PER_NODE, super::topology::PER_ACCELERATOR)],
        "LifeShape" => &[One { what: "a distribution", of: &["weibull", "logNormal", "gamma", "empirical"] }],
        "Create" => &[One { what: "an object", of: &["object", "jobSet"] }],
        "NodeReference" | "TaintNode" => &[
            Some { what: "a node", of: &["node", "ofPod", "alias", "label"] },
            NotBoth("node", "ofPod"),
            NotBoth("label", "node"),
            NotBoth("label", "ofPod"),
            NotBoth("label", "alias"),
        ],
        "Lemons" => &[Needs("regenerateShare", "regenerateEvery", "without it, no node becomes a lemon later")],
        "ContainerRule" => &[Needs("exitCode", "runFor", "without it, the container never exits")],
        "Distribution" => {
            &[OneSet(&[&["uniform"], &["logNormal"], &["exponential"], &["weibull"], &["gamma"], &["empirical"]])]
        }
        "LogNormal" => &[OneSet(&[&["median", "sigma"], &["p50", "p95"]])],
        "Timing" => &[Replaces("kubelet", super::timing::OF_REAL_KUBELETS, "kubelet.scripted")],
        _ => &[],
    }
}
