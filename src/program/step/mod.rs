//! A run step by step: the next record, breakpoints, and any object as `kubectl describe` would show it.
//!
//! The run waits while commands are read; what is described comes from a second run, up to the same record. Must never
//! change what happens: a run that is stepped through has the records of one that is not.

pub mod breaks;
mod commands;
mod describe;
mod known;
mod lists;
mod snapshot;

use breaks::Break;
use known::Known;
use serde_json::Value;
use sim_base::*;
use sim_engine::Simulation;
use sim_engine::record::{NO_CAUSE, Names, Record, RunOutcome, Sink};
use sim_report::files::event_objects::Objects;
use sim_report::files::events;
use snapshot::Snapshots;

/// Where commands come from and answers go to.
pub trait Talk {
    /// The next line; `None`: there are no more.
    fn ask(&mut self) -> Option<String>;
    /// Some lines of an answer.
    fn tell(&mut self, text: &str);
    /// What is wrong with a command.
    fn complain(&mut self, text: &str);
}

/// Records that are kept for `why`; a run that has more cannot say where the later ones come from.
const KEPT_MAX: usize = 4_000_000;

/// What goes on until the next stop.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Mode {
    /// So many records, each told.
    Next(u64),
    /// To the next breakpoint.
    Continue,
    /// To the first record at this time or later.
    Until(Time),
}

struct Session<'s> {
    talk: &'s mut dyn Talk,
    breaks: Vec<Break>,
    mode: Mode,
    /// The last command, which an empty line repeats.
    last: String,
    objects: Objects,
    known: Known,
    kept: Vec<Record>,
    snapshots: Snapshots,
    /// The last record, and its line as it is told.
    here: Option<(Record, String)>,
    quit: bool,
    over: Option<String>,
}

/// Plays a scenario, with a stop before it begins. `breaks` are set from the start.
pub fn run(
    simulation: &mut Simulation,
    second: Simulation,
    (seed, breaks): (u64, Vec<Break>),
    talk: &mut dyn Talk,
) -> RunOutcome {
    let mut session = Session {
        talk,
        breaks,
        mode: Mode::Continue,
        last: "next".to_owned(),
        objects: Objects::default(),
        known: Known::default(),
        kept: Vec::new(),
        snapshots: Snapshots::new(second, seed),
        here: None,
        quit: false,
        over: None,
    };
    session.prompt(None);
    let outcome = match session.quit {
        true => simulation.run(seed, 0, &mut Ended),
        false => simulation.run(seed, 0, &mut session),
    };
    if !session.quit {
        let reason = outcome.end_reason.as_str();
        let over = format!("the run is over at {}: {reason}", outcome.end);
        session.say(&over);
        session.over = Some(over);
        session.prompt(Some(simulation.names()));
    }
    outcome
}

/// Nothing is played.
struct Ended;

impl Sink for Ended {
    fn record(&mut self, _: &Record, _: &Names) {}

    fn looks_after(&self, _: u64) -> u64 {
        1
    }

    fn stops(&mut self, _: u64) -> bool {
        true
    }
}

impl Sink for Session<'_> {
    fn record(&mut self, record: &Record, names: &Names) {
        if self.quit {
            return;
        }
        self.objects.follow(names);
        self.objects.learn(names, &record.body);
        if self.kept.len() < KEPT_MAX {
            self.kept.push(*record);
        }
        self.known.learn(record, &self.objects, names);
        let (stop, told) = match self.mode {
            Mode::Next(n) => {
                self.mode = Mode::Next(n - 1);
                (n == 1, true)
            }
            Mode::Continue => (false, false),
            Mode::Until(at) => (record.at >= at, record.at >= at),
        };
        let hit = self.hit(record, names);
        if !stop && !told && hit.is_none() {
            // Of those that nobody asks about no line is made.
            self.here = Some((*record, String::new()));
            return;
        }
        let line = line(record, names, &self.objects);
        if let Some(at) = hit {
            let text = format!("breakpoint {}: {}", at + 1, self.breaks[at]);
            self.say(&text);
        }
        self.say(&line);
        self.here = Some((*record, line));
        if stop || hit.is_some() {
            self.prompt(Some(names));
        }
    }

    fn looks_after(&self, _: u64) -> u64 {
        1
    }

    fn stops(&mut self, _: u64) -> bool {
        self.quit
    }
}

impl Session<'_> {
    fn say(&mut self, text: &str) {
        self.talk.tell(&format!("{text}\n"));
    }

    /// The breakpoint that a record meets.
    fn hit(&self, record: &Record, names: &Names) -> Option<usize> {
        let kind = record.body.kind();
        let mut of_kind = self.breaks.iter().filter(|b| b.may_be(kind)).peekable();
        of_kind.peek()?;
        let members = members(record, names, &self.objects);
        self.breaks
            .iter()
            .position(|b| b.may_be(kind) && b.meets(&members))
    }

    /// A record by its number, as it is told; pods are called as they are now.
    fn told(&self, seq: u32, names: &Names) -> Option<String> {
        let record = self.kept.get(seq as usize)?;
        Some(line(record, names, &self.objects))
    }

    fn now(&self) -> Time {
        self.here
            .as_ref()
            .map_or(Time::ZERO, |(record, _)| record.at)
    }

    /// The record and what brought it about, and what that.
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

/// A record as in `events.ndjson`.
fn members(record: &Record, names: &Names, objects: &Objects) -> Value {
    let mut text = Vec::new();
    events::line(&mut text, objects, record, names);
    serde_json::from_slice(&text).unwrap_or_default()
}

/// A record on a line: time, number, kind, object, the members of its kind, reason and message.
fn line(record: &Record, names: &Names, objects: &Objects) -> String {
    let members = members(record, names, objects);
    let text = |key: &str| members[key].as_str().unwrap_or("");
    let (seq, at) = (format!("#{}", record.seq), record.at.to_string());
    let mut line = format!(
        "{at:>12} {seq:>6}  {} {}",
        record.body.kind(),
        text("object")
    );
    let head = [
        "seq", "t_ns", "cause", "kind", "object", "reason", "message",
    ];
    let own = members.as_object().into_iter().flatten();
    for (key, value) in own.filter(|(key, _)| !head.contains(&key.as_str())) {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
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
