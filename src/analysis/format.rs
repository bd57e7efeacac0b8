//! Formats numbers and ids as text: seconds, counts, faults, causes.

use crate::metrics::restarts::restart::{CauseKind, RestartCause, RestartOutcome};
use crate::metrics::{CriticalSpan, RestartMetrics, RunView};
use crate::{metrics::restarts::critical_spans::counts, metrics::restarts::waits::WaitKind};
use sim_api::spec::{
    FaultAction, GateChanges, LinkKind, NodeRef, ObjectKind, RequestVerb, ScriptedFault, SilentFaults, SilentTarget,
    UserRequest,
};
use sim_base::{Duration, SimTime};
use sim_engine::record::DeletionActor;

pub use crate::metrics::restarts::waits::{thousands, with_sign};

/// Formats a duration with three significant digits: `0.93 s`, `12.3 s`, `184 s`, `6 h 0 min`, `7 d 7 h`.
pub fn seconds(d: Duration) -> String {
    match d.seconds() {
        s if s < 9.995 => format!("{s:.2} s"),
        s if s < 99.95 => format!("{s:.1} s"),
        s if s < HOUR_S => format!("{s:.0} s"),
        s if s < LONG_S => {
            let minutes = (s / 60.0).round() as u64;
            format!("{} h {} min", minutes / 60, minutes % 60)
        }
        s => {
            let hours = (s / 3_600.0).round() as u64;
            format!("{} d {} h", thousands(hours / 24), hours % 24)
        }
    }
}

const HOUR_S: f64 = 3_599.5;
/// Durations from 100 h on are in days and hours.
pub const LONG_S: f64 = 360_000.0 - 30.0;

/// Formats a duration with three significant digits, in ms or us if it is short.
pub fn precise_seconds(d: Duration) -> String {
    let (value, unit) = match d.seconds() {
        0.0 => return "0 s".to_owned(),
        s if s < 99.95e-6 => (s * 1e6, "us"),
        s if s < 99.95e-3 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    match value {
        v if v < 0.9995 => format!("{v:.3} {unit}"),
        v if v < 9.995 => format!("{v:.2} {unit}"),
        v if v < 99.95 => format!("{v:.1} {unit}"),
        v if unit != "s" => format!("{v:.0} {unit}"),
        _ => seconds(d),
    }
}

/// Returns the width of a table column for durations of up to `longest`, at least `least`.
pub fn seconds_width(longest: Duration, least: usize) -> usize {
    // Shorter durations may have more digits: `4 h 9 min`, `3 h 54 min`; `5 d 2 h`, `4 d 20 h`, `99 h 54 min`.
    let width = |duration: Duration| seconds(duration).chars().count();
    let rounded = |unit: f64| (longest.seconds() / unit).round() as u64;
    let widest = match longest.seconds() {
        s if s < HOUR_S => width(longest),
        s if s < LONG_S => width(longest + Duration::from_secs(60 * (59 - rounded(60.0) % 60))),
        _ => width(longest + Duration::from_secs(3_600 * (23 - rounded(3_600.0) % 24))).max("99 h 59 min".len()),
    };
    widest.max(least)
}

/// Formats nanoseconds as decimal seconds with all digits, without trailing zeros.
pub fn exact_seconds(nanos: u128) -> String {
    let (whole, mut fraction) = (nanos / 1_000_000_000, (nanos % 1_000_000_000) as u32);
    let mut text = whole.to_string();
    let mut unit = 100_000_000;
    if fraction > 0 {
        text.push('.');
    }
    while fraction > 0 {
        text.push(char::from(b'0' + (fraction / unit) as u8));
        (fraction, unit) = (fraction % unit, unit / 10);
    }
    text
}

/// Formats a time for a table; empty for `SimTime::NEVER`.
pub fn exact_time(t: SimTime) -> String {
    if t == SimTime::NEVER { String::new() } else { exact_seconds(u128::from(t.0)) }
}

/// Formats a share in percent: `43.0 %` with one decimal.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$} %", share * 100.0)
}

/// Formats a number with its noun: `1 pod`, `5,000 pods`.
pub fn count(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(n))
}

/// Summarizes critical-path spans that are too short to be listed: their number, and the main wait if it is
/// significant.
pub fn short_spans(short: &[&CriticalSpan], total: Duration) -> String {
    let sum = Duration(short.iter().map(|s| s.step.duration().0).sum());
    let mut n = count(short.len() as u64, "short span");
    let mut by: Vec<(WaitKind, Duration, &CriticalSpan)> = Vec::new();
    for span in short.iter().filter(|_| counts(sum, total)) {
        let (what, time) = (WaitKind::from_step(&span.step), span.step.duration());
        match by.iter_mut().find(|(known, ..)| *known == what) {
            Some((_, sum, _)) => *sum = *sum + time,
            None => by.push((what, time, span)),
        }
    }
    if let Some((_, time, span)) = by.iter().max_by_key(|(_, time, _)| *time) {
        let of = span.waited_for.split_once(" in the queue of ");
        let of = of.map_or(span.waited_for.as_str(), |(_, line)| line);
        n.push_str(&format!(", of which {} waiting for {of}", seconds(*time)));
    }
    n
}

/// Wraps a text at spaces to the given width; longer words are kept. Does not break at no-break spaces, or between a
/// number and `s` or `%`.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut held = text.replace(" %", "\u{a0}%");
    for end in [")", "):", ",", ".", ";", ""] {
        held = held.replace(&format!(" s{end} "), &format!("\u{a0}s{end} "));
    }
    if held.ends_with(" s)") || held.ends_with(" s") {
        let at = held.rfind(' ').unwrap_or(0);
        held.replace_range(at..=at, "\u{a0}");
    }
    let mut lines: Vec<String> = Vec::new();
    for word in held.split(' ').filter(|w| !w.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|l| l.replace('\u{a0}', " ")).collect()
}

/// Returns the width of the longest text. Very long names are ignored; they widen only their own row.
pub fn column<'a>(texts: impl Iterator<Item = &'a str>, least: usize) -> usize {
    const WIDEST: usize = 100;
    let longest = texts.map(|text| text.chars().count()).max().unwrap_or(0);
    longest.clamp(least, WIDEST)
}

/// Wraps lines longer than `width`, with indentation. Commands and longer words are kept whole. Color codes have no
/// width.
pub fn fitted(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        let typed = is_typed(bare.trim_start());
        if bare.len() <= width || typed || columns(bare) <= width {
            out.push_str(line);
            continue;
        }
        let indent = bare.chars().take_while(|c| *c == ' ').count();
        let next = " ".repeat((indent + HANGING).min(width / 2));
        let mut rest = bare.to_owned();
        while let Some(at) = break_at(&rest, width) {
            let tail = rest.split_off(at);
            out.push_str(rest.trim_end());
            out.push('\n');
            rest = format!("{next}{}", tail.trim_start());
        }
        out.push_str(&rest);
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}

/// Prefixes of commands and values that the user types or copies.
const TYPED: [&str; 4] = ["--set", "$ ", "jobset-sim ", "kubectl "];
const HANGING: usize = 4;

/// Returns whether a line is a command or value to copy. `jobset-sim` followed by a version begins a title instead.
fn is_typed(line: &str) -> bool {
    TYPED.iter().any(|lead| {
        line.strip_prefix(lead).is_some_and(|rest| *lead != TYPED[2] || !rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// Returns the visible characters with their byte positions.
fn seen(line: &str) -> impl Iterator<Item = (usize, char)> {
    let mut escape = false;
    line.char_indices().filter(move |(_, c)| {
        let hidden = escape || *c == '\u{1b}';
        escape = hidden && *c != 'm';
        !hidden
    })
}

fn columns(line: &str) -> usize {
    seen(line).count()
}

/// Returns the position at which a long line is wrapped: the last space before `width`, otherwise the first space.
fn break_at(line: &str, width: usize) -> Option<usize> {
    if columns(line) <= width {
        return None;
    }
    let text = line.len() - line.trim_start().len();
    let spaces = seen(line).enumerate().filter(|(_, (at, c))| *c == ' ' && *at > text);
    let mut result = None;
    for (column, (at, _)) in spaces {
        if column > width && result.is_some() {
            break;
        }
        result = Some(at);
    }
    result.filter(|at| !line[*at..].trim().is_empty())
}

fn node_ref(node: &NodeRef) -> String {
    match (&node.name, &node.of_pod, &node.alias) {
        (Some(name), _, _) => format!("node {name}"),
        (None, Some(pod), _) => format!("the node of pod {pod}"),
        (None, None, Some(alias)) => format!("the node with alias {alias:?}"),
        (None, None, None) => "a node".to_owned(),
    }
}

/// Describes a scripted fault or user action, as the end of "at 12 s, …".
pub fn fault(action: &FaultAction) -> String {
    use FaultAction::*;
    match action {
        ContainerExit { pod, exit_code } => {
            format!("the container of pod {pod} exits with code {exit_code}")
        }
        DeletePod { pod, force: false } => format!("pod {pod} is deleted"),
        DeletePod { pod, force: true } => format!("pod {pod} is force-deleted"),
        EvictPod { pod } => format!("pod {pod} is evicted"),
        CrashNode(n) => format!("{} crashes", node_ref(n)),
        PartitionNode(n) => format!("{} is cut off from the control plane", node_ref(n)),
        ReturnNode(n) => format!("{} returns", node_ref(n)),
        DeleteNode(n) => format!("{} is deleted", node_ref(n)),
        CordonNode(n) => format!("{} is cordoned", node_ref(n)),
        UncordonNode(n) => format!("{} is uncordoned", node_ref(n)),
        DrainNode(n) => format!("{} is drained", node_ref(n)),
        TaintNode(n, taint) => {
            let value = if taint.value.is_empty() { String::new() } else { format!("={}", taint.value) };
            let effect = taint.effect.as_str();
            format!("{} is tainted {}{value}:{effect}", node_ref(n), taint.key)
        }
        NewNode(n) => format!("{} is replaced by a new node", node_ref(n)),
        Silent { on, fault: what } => silent(on, *what),
        SuspendJobSet(name) => format!("JobSet {name} is suspended"),
        ResumeJobSet(name) => format!("JobSet {name} is resumed"),
        DeleteJobSet(name) => format!("JobSet {name} is deleted"),
        StopManager(stop) => {
            let gates = gate_changes(stop.gates);
            format!("the JobSet manager is stopped for {}{gates}", stop.down_for)
        }
        FailImagePulls(failure) => {
            let image = failure.image.as_deref().map_or("images".to_owned(), |name| format!("image {name}"));
            let lasts = failure.lasts.map_or("the rest of the run".to_owned(), |d| d.to_string());
            format!("{image} cannot be pulled for {lasts}")
        }
        Request(request) => user_request(request),
    }
}

fn silent(on: &SilentTarget, what: SilentFaults) -> String {
    let on = match on {
        SilentTarget::Node(node) => node_ref(node),
        SilentTarget::Pod(pod) => format!("pod {pod}"),
    };
    match what {
        SilentFaults::Hang { .. } => format!("the workload on {on} hangs"),
        SilentFaults::Slow { factor: 1.0 } => format!("{on} returns to normal speed"),
        SilentFaults::Slow { factor } => format!("{on} is slow: steps take {factor} times as long"),
        SilentFaults::Degrade { links, factor } => {
            let links = match links {
                LinkKind::Island => "links of the island of",
                LinkKind::Network => "network ports of",
            };
            format!("the {links} {on} have {} of their bandwidth", percent(1.0 / factor, 1))
        }
        SilentFaults::Corrupt { .. } => format!("{on} computes wrong results"),
    }
}

fn gate_changes(gates: GateChanges) -> String {
    let all = [
        ("InPlaceRestart", gates.in_place_restart),
        ("RestartJob", gates.restart_job),
        ("ElasticJobSet", gates.elastic_jobset),
    ];
    let said = all.iter().filter_map(|(name, on)| on.map(|on| format!("{name}={on}")));
    let said: Vec<String> = said.collect();
    if said.is_empty() { String::new() } else { format!(" and restarts with {}", said.join(", ")) }
}

fn user_request(request: &UserRequest) -> String {
    let kind = match request.object.kind {
        ObjectKind::Pod => "pod",
        ObjectKind::Node => "node",
        kind => kind.as_str(),
    };
    let what = match &request.verb {
        RequestVerb::Patch { body, .. } => format!("patched with {body}"),
        RequestVerb::Create { .. } => "created".to_owned(),
        RequestVerb::Delete { .. } => "deleted".to_owned(),
        RequestVerb::Show { .. } => "shown".to_owned(),
    };
    format!("{kind} {} is {what}", request.object.name)
}

/// Describes a fault of the script; a random fault with its cause.
pub fn scripted(f: &ScriptedFault) -> String {
    let what = fault(&f.action);
    match &f.random_cause {
        Some(cause) => format!("{what} ({cause})"),
        None => what,
    }
}

/// Describes the cause of a restart as a clause such as "pod w-0-1 failed with code 1".
pub fn cause(run: &RunView<'_>, cause: &RestartCause) -> String {
    let pod = run.names.pod_base_name(cause.job, cause.index);
    match cause.kind {
        CauseKind::ContainerExited { exit_code } => {
            format!("the container of pod {pod} exited with code {exit_code}")
        }
        CauseKind::Fault { index } => match run.scenario.faults.get(index as usize) {
            Some(f) => scripted(f),
            None => format!("fault {index}"),
        },
        CauseKind::NodeNotReady => format!("node {} became not ready", run.names.node(cause.node)),
        CauseKind::PodDeleted { by: DeletionActor::Preemption } => format!("pod {pod} was preempted by kube-scheduler"),
        CauseKind::PodDeleted { by } => format!("pod {pod} was deleted by {}", by.as_str()),
        CauseKind::PodFailed { exit_code: Some(exit_code) } => format!("pod {pod} failed with code {exit_code}"),
        CauseKind::PodFailed { exit_code: None } => format!("pod {pod} failed"),
        CauseKind::PodRefused { reason } => {
            let (node, reason) = (run.names.node(cause.node), run.names.text(reason));
            format!("pod {pod} was refused by the kubelet of node {node} ({reason})")
        }
        CauseKind::Evicted { reason } => format!("Kueue evicted the JobSet ({})", run.names.text(reason)),
        CauseKind::Suspended => "suspended by a user".to_owned(),
        CauseKind::Deadline => format!("Job {} exceeded its activeDeadlineSeconds", run.names.job(cause.job)),
        CauseKind::Unknown => "unknown".to_owned(),
    }
}

/// Returns the noun for the beginning of a restart: a fault, or the eviction, suspension or deletion that is none. A
/// fault before the last instant at which every pod was ready is not the beginning.
pub fn origin(run: &RunView<'_>, r: &RestartMetrics) -> &'static str {
    match r.cause.kind {
        _ if r.caused_at < r.start => "last instant with every pod ready",
        CauseKind::Evicted { .. } => "eviction",
        CauseKind::Suspended => "suspension",
        CauseKind::Deadline => "time limit of the Job",
        CauseKind::Fault { index } => match run.scenario.faults.get(index as usize).map(|fault| &fault.action) {
            Some(FaultAction::SuspendJobSet(_)) => "suspension",
            Some(FaultAction::Request(_)) => "request",
            _ => "fault",
        },
        CauseKind::PodDeleted { .. } | CauseKind::Unknown => "interruption",
        CauseKind::ContainerExited { .. }
        | CauseKind::NodeNotReady
        | CauseKind::PodFailed { .. }
        | CauseKind::PodRefused { .. } => "fault",
    }
}

/// Returns the noun for the beginnings of several restarts.
pub fn common_origin<'a>(mut origins: impl Iterator<Item = &'a str>) -> &'a str {
    let first = origins.next().unwrap_or("fault");
    if origins.all(|other| other == first) { first } else { "interruption" }
}

/// Returns the text for the common end of several restarts, such as `until all pods are ready again`.
pub fn common_end(endings: impl Iterator<Item = RestartOutcome> + Clone) -> &'static str {
    let all = |ending| endings.clone().all(|other| other == ending);
    let any = |ending| endings.clone().any(|other| other == ending);
    if all(RestartOutcome::Ready) {
        "until all pods are ready again"
    } else if all(RestartOutcome::Unfinished) {
        "to the end of the run (restart unfinished)"
    } else if all(RestartOutcome::JobSetEnded) {
        "until the JobSet ended without becoming ready again"
    } else if any(RestartOutcome::Unfinished) {
        "until the end of the restart or of the run"
    } else {
        "until all pods are ready again or the JobSet ended"
    }
}

/// Returns a title such as `Restart 1 of JobSet train (Recreate, attempt 1): 126 s from the fault until every pod
/// was ready`.
pub fn restart_title(run: &RunView<'_>, r: &RestartMetrics, number: usize) -> String {
    let end = match r.ending {
        RestartOutcome::Ready => "until every pod was ready",
        RestartOutcome::JobSetEnded => "until the JobSet ended without becoming ready again",
        RestartOutcome::Unfinished => "to the end of the run (restart unfinished)",
    };
    let from = origin(run, r);
    format!(
        "Restart {number} of JobSet {} ({}, attempt {}): {} from the {from} {end}",
        run.names.jobset(r.jobset),
        run.strategy(r),
        r.attempt,
        seconds(r.total()),
    )
}
