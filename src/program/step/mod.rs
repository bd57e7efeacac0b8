//! Interactive stepping: runs a simulation record by record, with breakpoints and object descriptions as in `kubectl
//! describe`.
//!
//! The simulation waits while commands are read. Descriptions come from a second simulation of the same scenario up
//! to the same record. Stepping must never change the records of a run.

pub mod breakpoints;
mod commands;
mod describe;
mod known_state;
mod lists;
mod snapshot;

use breakpoints::Breakpoint;
use known_state::KnownState;
use serde_json::Value;
use sim_base::SimTime;
use sim_engine::SimulationInput;
use sim_engine::record::{NO_CAUSE, RecordNames, RecordSink, RunOutcome, SimulationRecord};
use sim_report::files::event_objects::EventObjects;
use sim_report::files::events;
use snapshot::SnapshotStore;

/// Source of commands and destination of output.
pub trait Console {
    /// Returns the next command line; `None` at the end of the input.
    fn read_command(&mut self) -> Option<String>;
    /// Writes lines of output.
    fn print_text(&mut self, text: &str);
    fn report_error(&mut self, text: &str);
}

/// Maximum number of records stored for `why`. The causes of later records are unknown.
const KEPT_MAX: usize = 4_000_000;

/// Condition for the next stop.
#[derive(Copy, Clone, Debug, PartialEq)]
enum StepMode {
    /// Stop after this number of records, and print each of them.
    Next(u64),
    /// Stop at the next breakpoint.
    Continue,
    /// Stop at the first record at this time or later.
    Until(SimTime),
}

struct StepSession<'s> {
    console: &'s mut dyn Console,
    breakpoints: Vec<Breakpoint>,
    mode: StepMode,
    /// Last command, repeated by an empty line.
    last: String,
    objects: EventObjects,
    known: KnownState,
    kept: Vec<SimulationRecord>,
    snapshots: SnapshotStore,
    here: Option<(SimulationRecord, String)>,
    quit: bool,
    over: Option<String>,
}

/// Runs a session, which first stops before the start of the run. `breakpoints` are the initial breakpoints.
pub fn run(
    simulation: &mut SimulationInput, second: SimulationInput, (seed, breakpoints): (u64, Vec<Breakpoint>),
    console: &mut dyn Console,
) -> RunOutcome {
    let mut session = StepSession {
        console,
        breakpoints,
        mode: StepMode::Continue,
        last: "next".to_owned(),
        objects: EventObjects::default(),
        known: KnownState::default(),
        kept: Vec::new(),
        snapshots: SnapshotStore::new(second, seed),
        here: None,
        quit: false,
        over: None,
    };
    session.prompt(None);
    let outcome =
        if session.quit { simulation.run(seed, 0, &mut SessionEnd) } else { simulation.run(seed, 0, &mut session) };
    if !session.quit {
        let reason = outcome.end_reason.as_str();
        let over = format!("run ended at {}: {reason}", outcome.end);
        session.print_line(&over);
        session.over = Some(over);
        session.prompt(Some(simulation.names()));
    }
    outcome
}

/// A sink that stops the run immediately.
struct SessionEnd;

impl RecordSink for SessionEnd {
    fn record(&mut self, _: &SimulationRecord, _: &RecordNames) {}

    fn events_until_stop_check(&self, _: u64) -> u64 {
        1
    }

    fn should_stop(&mut self, _: u64) -> bool {
        true
    }
}

impl RecordSink for StepSession<'_> {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        if self.quit {
            return;
        }
        self.objects.add_new_names(names);
        self.objects.set_pod_name(names, &record.body);
        if self.kept.len() < KEPT_MAX {
            self.kept.push(*record);
        }
        self.known.learn(record, &self.objects, names);
        let (stop, is_printed) = match self.mode {
            StepMode::Next(n) => {
                self.mode = StepMode::Next(n - 1);
                (n == 1, true)
            }
            StepMode::Continue => (false, false),
            StepMode::Until(at) => (record.at >= at, record.at >= at),
        };
        let hit = self.hit(record, names);
        if !stop && !is_printed && hit.is_none() {
            // The text of a record is only created when it is printed.
            self.here = Some((*record, String::new()));
            return;
        }
        let line = line(record, names, &self.objects);
        if let Some(at) = hit {
            let text = format!("breakpoint {}: {}", at + 1, self.breakpoints[at]);
            self.print_line(&text);
        }
        self.print_line(&line);
        self.here = Some((*record, line));
        if stop || hit.is_some() {
            self.prompt(Some(names));
        }
    }

    fn events_until_stop_check(&self, _: u64) -> u64 {
        1
    }

    fn should_stop(&mut self, _: u64) -> bool {
        self.quit
    }
}

impl StepSession<'_> {
    fn print_line(&mut self, text: &str) {
        self.console.print_text(&format!("{text}\n"));
    }

    /// Returns the index of the first breakpoint that matches a record.
    fn hit(&self, record: &SimulationRecord, names: &RecordNames) -> Option<usize> {
        let kind = record.body.kind();
        let mut of_kind = self.breakpoints.iter().filter(|b| b.may_be(kind)).peekable();
        of_kind.peek()?;
        let members = members(record, names, &self.objects);
        self.breakpoints.iter().position(|b| b.may_be(kind) && b.meets(&members))
    }

    /// Returns the text of a record by its number, with the current pod names.
    fn describe_record(&self, seq: u32, names: &RecordNames) -> Option<String> {
        let record = self.kept.get(seq as usize)?;
        Some(line(record, names, &self.objects))
    }

    fn now(&self) -> SimTime {
        self.here.as_ref().map_or(SimTime::ZERO, |(record, _)| record.at)
    }

    /// Returns the numbers of the current record and of its chain of causes.
    fn chain(&self) -> Vec<u32> {
        let mut chain = Vec::new();
        let mut next = self.here.as_ref().map(|(record, _)| record.seq);
        while let Some(seq) = next {
            chain.push(seq);
            let record = self.kept.get(seq as usize);
            next = record.map(|r| r.cause).filter(|cause| *cause != NO_CAUSE);
        }
        chain
    }
}

/// Returns the members of a record as in `events.ndjson`.
fn members(record: &SimulationRecord, names: &RecordNames, objects: &EventObjects) -> Value {
    let mut text = Vec::new();
    events::line(&mut text, objects, record, names);
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Formats a record as one line: time, number, kind, object, other members, reason and message.
fn line(record: &SimulationRecord, names: &RecordNames, objects: &EventObjects) -> String {
    let members = members(record, names, objects);
    let text = |key: &str| members[key].as_str().unwrap_or("");
    let (seq, at) = (format!("#{}", record.seq), record.at.to_string());
    let mut line = format!("{at:>12} {seq:>6}  {} {}", record.body.kind(), text("object"));
    let head = ["seq", "t_ns", "cause", "kind", "object", "reason", "message"];
    let own = members.as_object().into_iter().flatten();
    for (key, value) in own.filter(|(key, _)| !head.contains(&key.as_str())) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        line.push_str(&format!(" {key}={value}"));
    }
    for (key, lead) in [("reason", " "), ("message", ": ")] {
        if !text(key).is_empty() {
            line.push_str(lead);
            line.push_str(text(key));
        }
    }
    line
}
