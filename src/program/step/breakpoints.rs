//! Breakpoints: a kind of record, optionally with the value of a member.
//!
//! Examples: `jobset.condition=RestartingJobSet`, `PodReady`, `RestartCounted.restarts=2`. A breakpoint must depend
//! only on the record.

use serde_json::Value;
use sim_engine::record::Body;
use sim_inputs::nearest;
use std::fmt;

/// A breakpoint of `step`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakpoint {
    /// Expression as given by the user.
    text: String,
    kind: &'static str,
    /// Members and the values that they must all have.
    wants: Vec<(String, String)>,
}

impl fmt::Display for Breakpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// An alternative name for a member of a record kind, with additional conditions.
struct BreakpointAlias {
    name: &'static str,
    kind: &'static str,
    member: &'static str,
    also: &'static [(&'static str, &'static str)],
}

const ALIASES: [BreakpointAlias; 6] = [
    alias("jobset.condition", "JobSetCondition", "type", &[("status", "True")]),
    alias("job.condition", "JobCondition", "type", &[("status", "True")]),
    alias("pod.phase", "PodFinished", "phase", &[]),
    alias("node.ready", "NodeState", "ready", &[]),
    alias("event.reason", "KubeEvent", "reason", &[]),
    alias("container.exitCode", "ContainerExited", "exitCode", &[]),
];

const fn alias(
    name: &'static str, kind: &'static str, member: &'static str, also: &'static [(&'static str, &'static str)],
) -> BreakpointAlias {
    BreakpointAlias { name, kind, member, also }
}

/// Members that every record has.
const COMMON: [&str; 4] = ["object", "reason", "message", "t_ns"];

impl std::str::FromStr for Breakpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Breakpoint, String> {
        let text = text.trim();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (text, None),
        };
        if let Some(alias) = ALIASES.iter().find(|a| a.name == name) {
            return of_alias(text, alias, value);
        }
        let (kind, member) = match name.split_once('.') {
            Some((kind, member)) => (kind, Some(member)),
            None => (name, None),
        };
        let Some((kind, roles)) = Body::KINDS.iter().find(|(known, _)| *known == kind) else {
            return Err(unknown(name, kind));
        };
        let wants = match (member, value) {
            (None, None) => Vec::new(),
            (Some(member), Some(value)) => {
                let own = roles.iter().filter_map(|role| role.member());
                let known: Vec<&str> = own.chain(COMMON).collect();
                if !known.contains(&member) {
                    let known = known.join(", ");
                    return Err(format!("{kind} has no member {member:?}; its members are {known}"));
                }
                vec![(member.to_owned(), value.to_owned())]
            }
            _ => return Err(format!("{text:?}: expected KIND or KIND.MEMBER=VALUE")),
        };
        Ok(Breakpoint { text: text.to_owned(), kind, wants })
    }
}

fn of_alias(text: &str, alias: &BreakpointAlias, value: Option<&str>) -> Result<Breakpoint, String> {
    let value = value.filter(|v| !v.is_empty());
    let value = value.ok_or_else(|| format!("{text:?}: expected {}=VALUE", alias.name))?;
    let both = |(member, value): (&str, &str)| (member.to_owned(), value.to_owned());
    // Running pods have a separate record kind.
    if alias.name == "pod.phase" && !["Failed", "Succeeded"].contains(&value) {
        let kind = match value {
            "Pending" => "PodCreated",
            "Running" => "PodRunning",
            _ => {
                return Err("the phase of a pod is Pending, Running, Succeeded or Failed".to_owned());
            }
        };
        return Ok(Breakpoint { text: text.to_owned(), kind, wants: Vec::new() });
    }
    let wants = std::iter::once((alias.member, value)).chain(alias.also.iter().copied());
    Ok(Breakpoint { text: text.to_owned(), kind: alias.kind, wants: wants.map(both).collect() })
}

fn unknown(name: &str, kind: &str) -> String {
    let aliases = ALIASES.iter().map(|a| a.name);
    let known: Vec<&str> = Body::KINDS.iter().map(|(known, _)| *known).chain(aliases).collect();
    let near = nearest(name, known.iter().copied()).or_else(|| nearest(kind, known.iter().copied()));
    let near = near.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
    let aliases: Vec<&str> = ALIASES.iter().map(|a| a.name).collect();
    let legal = aliases.join(", ");
    format!("unknown breakpoint {name:?}{near}\n = legal: a kind of record (docs/reference/output.md), or {legal}")
}

impl Breakpoint {
    /// Returns whether records of a kind can match the breakpoint.
    pub fn may_be(&self, kind: &str) -> bool {
        self.kind == kind
    }

    /// Returns whether a record of the breakpoint's kind matches.
    pub fn meets(&self, members: &Value) -> bool {
        self.wants.iter().all(|(member, wanted)| {
            let result = &members[member];
            let result = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
            // An object also matches by its name without the namespace or without the random suffix.
            let named = member == "object"
                && result.split('/').any(|part| {
                    part == wanted || part.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.starts_with('-'))
                });
            result == *wanted || named
        })
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/program/step/breakpoints.rs"]
mod tests;
