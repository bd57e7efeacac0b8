//! `--fail POD:exit=CODE@TIME`: one failure without a scenario file.
//!
//! Every failure becomes an entry of `faults`, so it can also be written in a scenario.

use crate::cli::failure::{CommandFailure, bail};
use sim_base::Duration;

use sim_api::spec::{FaultAction, FaultTime, ScenarioSpec, ScriptedFault};

const USAGE: &str = "expected POD:exit=CODE, POD:delete or POD:evict, then @TIME, \
    e.g. workers-0-1:exit=42@10m or workers-0-1:evict@ready+30s";

/// A failure as parsed; the pod may not exist.
#[derive(Clone, Debug, PartialEq)]
pub struct FailFlags {
    /// Argument text, used to repeat the command.
    pub text: String,
    pod: String,
    kind: FailKind,
    at: FaultTime,
}

#[derive(Clone, Debug, PartialEq)]
enum FailKind {
    Exit(i32),
    Delete,
    Evict,
}

/// Parses `POD:WHAT@TIME`. Without a time, the failure happens when all pods are ready for the first time.
pub fn parse(text: &str) -> Result<FailFlags, String> {
    let (pod, rest) = text.split_once(':').ok_or(USAGE)?;
    let (kind, at) = match rest.split_once('@') {
        Some((kind, at)) => (kind, time(at)?),
        None => (rest, FaultTime::AfterReady(Duration::ZERO)),
    };
    let kind = match kind.split_once('=') {
        Some(("exit", code)) => FailKind::Exit(exit_code(code)?),
        None if kind == "delete" => FailKind::Delete,
        None if kind == "evict" => FailKind::Evict,
        _ => return Err(format!("unknown failure {kind:?}; {USAGE}")),
    };
    if pod.is_empty() {
        return Err(format!("missing pod name; {USAGE}"));
    }
    Ok(FailFlags { text: text.to_owned(), pod: pod.replace('/', "-"), kind, at })
}

fn exit_code(text: &str) -> Result<i32, String> {
    let code = text.parse::<u8>().map(i32::from);
    code.map_err(|_| format!("exit code {text:?} is not a number from 0 to 255"))
}

/// Parses a time: `10m` after the start of the run, `ready` or `ready+30s` after all pods are ready for the first time.
fn time(text: &str) -> Result<FaultTime, String> {
    let duration = |text: &str| {
        let parsed = text.parse::<Duration>();
        parsed.map_err(|e| format!("time {text:?}: {e}; expected 10m, ready or ready+30s"))
    };
    match text.strip_prefix("ready") {
        Some("") => Ok(FaultTime::AfterReady(Duration::ZERO)),
        Some(rest) => match rest.strip_prefix('+') {
            Some(after) => Ok(FaultTime::AfterReady(duration(after)?)),
            None => Err(format!("time {text:?}: expected 10m, ready or ready+30s")),
        },
        None => Ok(FaultTime::At(duration(text)?)),
    }
}

/// Adds the failures to the faults of the scenario. Returns an error if a pod does not exist or the run ends before.
pub fn add(fails: &[FailFlags], scenario: &mut ScenarioSpec) -> Result<(), CommandFailure> {
    for fail in fails {
        let pod = resolve(fail, scenario)?;
        if let FaultTime::At(at) = fail.at
            && at > scenario.stop.at
        {
            let stop = scenario.stop.at;
            bail!("--fail {}: the run already ends at {stop} (stop.at)", fail.text);
        }
        let action = match fail.kind {
            FailKind::Exit(exit_code) => FaultAction::ContainerExit { pod, exit_code },
            FailKind::Delete => FaultAction::DeletePod { pod, force: false },
            FailKind::Evict => FaultAction::EvictPod { pod },
        };
        let at = fail.at;
        scenario.faults.push(ScriptedFault { at, action, random_cause: None, entry: None });
    }
    Ok(())
}

/// Returns the full pod name. The name of the JobSet at its start may be omitted in the argument.
fn resolve(fail: &FailFlags, scenario: &ScenarioSpec) -> Result<String, CommandFailure> {
    let jobsets = &scenario.jobsets;
    match sim_inputs::pods_meant(jobsets, &fail.pod).as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(CommandFailure::Invalid(format!(
            "--fail {}: unknown pod {:?}\n  legal: {}",
            fail.text,
            fail.pod,
            sim_inputs::pod_names(jobsets)
        ))),
        several => Err(CommandFailure::Invalid(format!(
            "--fail {}: {:?} is ambiguous: {}",
            fail.text,
            fail.pod,
            several.join(" or ")
        ))),
    }
}

#[cfg(test)]
#[path = "../../../../tests/inside/program/cli/inputs/fail.rs"]
mod tests;
