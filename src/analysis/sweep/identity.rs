//! What makes two sweeps the same experiment: program, inputs and everything that was asked for.

use super::points::Points;
use super::shard::Shard;
use serde::{Deserialize, Serialize};
use sim_api::spec::{Axis, Over, SweepSpec};
use sim_base::fnv::fnv1a;
use std::collections::BTreeMap;

const SCHEMA: &str = "jobset-sim/sweep-experiment/v1";

/// One experiment. What is equal in it gives equal replications, whoever plays them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    pub schema: String,
    /// Of this program.
    pub version: String,
    pub scenario: String,
    pub seed: u64,
    /// Of each point; with `until` the most of them.
    pub replications: u64,
    pub until: Option<String>,
    pub axes: Vec<AxisText>,
    pub latin_hypercube: Option<u64>,
    /// Name → digest of its text.
    pub inputs: BTreeMap<String, String>,
    /// What repeats it inside its inputs.
    pub command: String,
}

/// An axis on paper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisText {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<String>,
}

/// What a directory with a part of a sweep says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartOf {
    pub shard: ShardText,
    pub experiment: Identity,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardText {
    pub index: u64,
    pub of: u64,
}

impl From<Shard> for ShardText {
    fn from(Shard { index, of }: Shard) -> ShardText {
        ShardText { index, of }
    }
}

impl Identity {
    /// `asked`: seed, replications, and the precision that ends them. `inputs`: their names and texts, and the command.
    pub fn of(
        scenario: &str,
        (seed, replications, until): (u64, u64, Option<&str>),
        sweep: &SweepSpec,
        (inputs, command): (&[(String, String)], &str),
    ) -> Identity {
        let digest = |(name, text): &(String, String)| (name.clone(), hex(text.as_bytes()));
        Identity {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: scenario.to_owned(),
            seed,
            replications,
            until: until.map(str::to_owned),
            axes: sweep.axes.iter().map(AxisText::of).collect(),
            latin_hypercube: sweep.hypercube,
            inputs: inputs.iter().map(digest).collect(),
            command: command.to_owned(),
        }
    }

    /// 16 digits that stand for all of it.
    pub fn digest(&self) -> String {
        hex(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// The points that are swept.
    pub fn points(&self) -> Result<Points, String> {
        let axes = self.axes.iter().map(AxisText::axis).collect::<Option<_>>();
        let axes = axes.ok_or("an axis has neither values nor a range")?;
        let hypercube = self.latin_hypercube;
        Points::of(&SweepSpec { axes, hypercube }, self.seed)
    }

    /// In what another experiment is not this one, each by name; nothing if it is.
    pub fn differences(&self, other: &Identity) -> Vec<String> {
        let mut all = Vec::new();
        let mut differ = |what: &str, a: String, b: String| {
            if a != b {
                all.push(format!("{what} ({a} and {b})"));
            }
        };
        differ(
            "program version",
            self.version.clone(),
            other.version.clone(),
        );
        differ("scenario", self.scenario.clone(), other.scenario.clone());
        differ("seed", self.seed.to_string(), other.seed.to_string());
        let n = |i: &Identity| i.replications.to_string();
        differ("replications", n(self), n(other));
        let until = |i: &Identity| i.until.clone().unwrap_or_else(|| "none".to_owned());
        differ("--until", until(self), until(other));
        let axes = |i: &Identity| {
            let axes: Vec<String> = i.axes.iter().map(AxisText::told).collect();
            axes.join("; ")
        };
        differ("axes", axes(self), axes(other));
        let cube = |i: &Identity| {
            i.latin_hypercube
                .map_or("none".to_owned(), |n| n.to_string())
        };
        differ("Latin hypercube", cube(self), cube(other));
        let names = self.inputs.keys().chain(other.inputs.keys());
        let mut names: Vec<&String> = names.collect();
        names.sort();
        names.dedup();
        for name in names {
            if self.inputs.get(name) != other.inputs.get(name) {
                all.push(format!("input {name}"));
            }
        }
        if all.is_empty() && self != other {
            all.push(format!("options ({} and {})", self.command, other.command));
        }
        all
    }
}

impl AxisText {
    fn of(axis: &Axis) -> AxisText {
        let path = axis.path.clone();
        let (values, from, to, scale) = match &axis.over {
            Over::Values(values) => (Some(values.clone()), None, None, None),
            Over::Range { low, high, log } => {
                let scale = log.then(|| "Log".to_owned());
                (None, Some(low.clone()), Some(high.clone()), scale)
            }
        };
        AxisText {
            path,
            values,
            from,
            to,
            scale,
        }
    }

    fn axis(&self) -> Option<Axis> {
        let over = match (&self.values, &self.from, &self.to) {
            (Some(values), None, None) => Over::Values(values.clone()),
            (None, Some(low), Some(high)) => Over::Range {
                low: low.clone(),
                high: high.clone(),
                log: self.scale.as_deref() == Some("Log"),
            },
            _ => return None,
        };
        let path = self.path.clone();
        Some(Axis { path, over })
    }

    /// As it would be typed.
    pub fn told(&self) -> String {
        let path = &self.path;
        match (&self.values, &self.from, &self.to) {
            (Some(values), ..) => format!("{path}={}", values.join(",")),
            (None, Some(from), Some(to)) => {
                let log = if self.scale.is_some() { ":log" } else { "" };
                format!("{path}={from}..{to}{log}")
            }
            _ => path.clone(),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    format!("{:016x}", fnv1a(bytes.iter().copied()))
}
