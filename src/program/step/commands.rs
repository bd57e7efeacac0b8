//! The commands of a session, one per line.

use super::breakpoints::Breakpoint;
use super::{StepMode, StepSession, describe, lists};
use serde_json::Value;
use sim_api::spec::NodeObject;
use sim_base::{Duration, SimTime};
use sim_engine::record::RecordNames;
use sim_inputs::nearest;

const HELP: &str = "next [N]            show the next record, or the next N (n)
continue            run to the next breakpoint or the end (c)
until TIME          run to the first record at this time or later: until 2m30s (u)
break EXPR          stop at a kind of record: break PodReady, break RestartCounted.restarts=2,
                    break PodReady.object=train-workers-0-1, break jobset.condition=RestartingJobSet,
                    also job.condition, pod.phase, node.ready, event.reason, container.exitCode (b)
breaks              list breakpoints
delete [N]          delete breakpoint N, or all
get KIND            list jobsets, jobs, pods, nodes, services, claims or events
describe KIND NAME  show an object like kubectl describe (d)
why                 show the chain of causes of this record (w)
where               show the current record
quit                end the session (q)
An empty line repeats the last next, continue or until.
";

/// Kinds of the API with the names that commands accept.
const KINDS: [(&str, &[&str]); 6] = [
    ("JobSet", &["jobset", "jobsets", "js"]),
    ("Job", &["job", "jobs"]),
    ("Pod", &["pod", "pods", "po"]),
    ("Node", &["node", "nodes", "no"]),
    ("Service", &["service", "services", "svc"]),
    ("PersistentVolumeClaim", &["claim", "claims", "pvc", "persistentvolumeclaim", "persistentvolumeclaims"]),
];
const COMMANDS: [&str; 12] =
    ["next", "continue", "until", "break", "breaks", "delete", "get", "describe", "why", "where", "quit", "help"];
/// Maximum number of lines of a list; further lines are only counted.
const LISTED_MAX: usize = 200;

impl StepSession<'_> {
    /// Reads and runs commands until the simulation continues or the session ends.
    pub(super) fn prompt(&mut self, names: Option<&RecordNames>) {
        loop {
            let Some(line) = self.console.read_command() else {
                self.quit = true;
                return;
            };
            let line = match line.trim() {
                "" => self.last.clone(),
                line => line.to_owned(),
            };
            if line.starts_with('#') {
                continue;
            }
            match self.command(&line, names) {
                Ok(true) => return,
                Ok(false) => {}
                Err(message) => self.console.report_error(&message),
            }
        }
    }

    /// Runs a command. Returns whether the simulation continues.
    fn command(&mut self, line: &str, names: Option<&RecordNames>) -> Result<bool, String> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let bare = |yes: bool| {
            if rest.is_empty() { Ok(yes) } else { Err(format!("{word} takes no argument")) }
        };
        match word {
            "next" | "n" => {
                let n = if rest.is_empty() { Ok(1) } else { rest.parse() };
                let n = n.ok().filter(|n| *n > 0);
                let n = n.ok_or_else(|| format!("next: expected a number of records, not {rest:?}"))?;
                self.continues(line, StepMode::Next(n))
            }
            "continue" | "c" => bare(true).and_then(|_| self.continues(line, StepMode::Continue)),
            "until" | "u" => {
                let at: Duration = rest.parse().map_err(|e| format!("until {rest}: {e}"))?;
                self.continues(line, StepMode::Until(SimTime::ZERO + at))
            }
            "break" | "b" => {
                let result: Breakpoint = rest.parse()?;
                let text = format!("breakpoint {}: {result}", self.breakpoints.len() + 1);
                self.breakpoints.push(result);
                self.print_line(&text);
                Ok(false)
            }
            "breaks" => bare(false).map(|_| {
                for (i, b) in self.breakpoints.clone().iter().enumerate() {
                    self.print_line(&format!("breakpoint {}: {b}", i + 1));
                }
                false
            }),
            "delete" => self.delete(rest).map(|()| false),
            "get" => self.list(rest).map(|()| false),
            "describe" | "d" => self.describe(rest).map(|()| false),
            "why" | "w" => bare(false).map(|_| {
                self.why(names);
                false
            }),
            "where" => bare(false).map(|_| {
                self.print_position(names);
                false
            }),
            "quit" | "q" | "exit" => bare(true).inspect(|_| self.quit = true),
            "help" | "h" | "?" => {
                self.console.print_text(HELP);
                Ok(false)
            }
            _ => Err(match nearest(word, COMMANDS) {
                Some(near) => format!("unknown command {word:?}; did you mean {near:?}?"),
                None => format!("unknown command {word:?}; `help` lists all commands"),
            }),
        }
    }

    fn continues(&mut self, line: &str, mode: StepMode) -> Result<bool, String> {
        if let Some(over) = &self.over {
            return Err(over.clone());
        }
        line.clone_into(&mut self.last);
        self.mode = mode;
        Ok(true)
    }

    fn delete(&mut self, which: &str) -> Result<(), String> {
        if which.is_empty() {
            self.breakpoints.clear();
            return Ok(());
        }
        let n: usize = which.parse().map_err(|_| format!("delete: expected a number, not {which:?}"))?;
        if n == 0 || n > self.breakpoints.len() {
            return Err(format!("there is no breakpoint {n}"));
        }
        self.breakpoints.remove(n - 1);
        Ok(())
    }

    fn why(&mut self, names: Option<&RecordNames>) {
        let chain = self.chain();
        let Some(names) = names.filter(|_| !chain.is_empty()) else {
            return self.print_line("no record yet");
        };
        for seq in chain {
            match self.describe_record(seq, names) {
                Some(line) => self.print_line(&line),
                None => self
                    .print_line(&format!("record {seq} was not stored: the run exceeds the limit of stored records")),
            }
        }
    }

    fn print_position(&mut self, names: Option<&RecordNames>) {
        let here = self.here.as_ref().map(|(record, _)| record.seq);
        let description = here.zip(names).and_then(|(seq, names)| self.describe_record(seq, names));
        match (&self.over, description) {
            (Some(over), _) => self.print_line(&over.clone()),
            (None, Some(line)) => self.print_line(&line),
            (None, None) => self.print_line("no record yet"),
        }
    }

    /// Returns the objects that exist at the current record.
    fn objects(&mut self) -> &[Value] {
        let seq = self.here.as_ref().map(|(record, _)| record.seq);
        match (seq, &self.over) {
            (None, _) => &[],
            (_, Some(_)) => self.snapshots.at(None),
            (seq, None) => self.snapshots.at(seq),
        }
    }

    fn list(&mut self, word: &str) -> Result<(), String> {
        let text = match word {
            "events" | "event" | "ev" => describe::events(&self.known, None),
            _ => {
                let kind = kind(word)?;
                let objects = self.objects().to_vec();
                match kind {
                    "Node" => lists::nodes(&self.nodes(), &objects, &self.known),
                    _ => lists::list(kind, &objects, &self.known),
                }
            }
        };
        let lines: Vec<&str> = text.lines().collect();
        let more = lines.len().saturating_sub(LISTED_MAX);
        let mut displayed = lines[..lines.len() - more].join("\n");
        displayed.push('\n');
        if more > 0 {
            displayed.push_str(&format!("... {more} more\n"));
        }
        self.console.print_text(&displayed);
        Ok(())
    }

    fn nodes(&self) -> Vec<String> {
        self.snapshots.nodes()
    }

    fn describe(&mut self, what: &str) -> Result<(), String> {
        let (word, name) = what.split_once([' ', '/']).ok_or("expected describe KIND NAME")?;
        let (kind, name) = (kind(word)?, name.trim());
        let now = self.now();
        let objects = self.objects().to_vec();
        if kind == "Node" {
            let node: Option<NodeObject> = self.snapshots.node(name);
            let node = node.ok_or_else(|| missing(kind, name, self.nodes().iter().map(String::as_str)))?;
            let text = describe::node(&node, &objects, &self.known);
            self.console.print_text(&text);
            return Ok(());
        }
        let of_kind = || objects.iter().filter(|o| o["kind"] == kind);
        let called = |o: &Value| o["metadata"]["name"].as_str().unwrap_or("").to_owned();
        let exact = of_kind().find(|o| called(o) == name);
        // A pod may be named without its random suffix.
        let short = || of_kind().find(|o| called(o).rsplit_once('-').is_some_and(|(front, _)| front == name));
        let result = exact.or_else(|| if kind == "Pod" { short() } else { None });
        let names: Vec<String> = of_kind().map(called).collect();
        let object = result.ok_or_else(|| missing(kind, name, names.iter().map(String::as_str)))?;
        let text = describe::object(object, &self.known, now);
        self.console.print_text(&text);
        Ok(())
    }
}

fn kind(word: &str) -> Result<&'static str, String> {
    let word = word.to_ascii_lowercase();
    let matching = KINDS.iter().find(|(_, words)| words.contains(&word.as_str()));
    matching.map(|(kind, _)| *kind).ok_or_else(|| {
        let known: Vec<&str> = KINDS.iter().map(|(_, words)| words[0]).collect();
        format!("unknown kind {word:?}; legal: {}", known.join(", "))
    })
}

fn missing<'n>(kind: &str, name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let known: Vec<&str> = known.collect();
    let near = nearest(name, known.iter().copied());
    let hint = match (near, known.len()) {
        (Some(near), _) => format!("; did you mean {near:?}?"),
        (None, 0) => "; there are no objects of this kind".to_owned(),
        (None, n) => format!("; there are {n}, e.g. {}", known[..n.min(4)].join(", ")),
    };
    format!("{kind} {name:?} does not exist now{hint}")
}
