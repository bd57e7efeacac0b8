//! Console output of `why`: the critical path with its spans, the cause of a blocked state, and what-if runs.

use crate::{console::placement, console::waterfall::WaterfallStyle};
use sim_analysis::format;
use sim_analysis::format::{count, exact_seconds, seconds};
use sim_analysis::metrics::CriticalSpan;
use sim_analysis::metrics::restarts::critical_spans;
use sim_analysis::metrics::restarts::critical_spans::{RequestGroup, counts};
use sim_analysis::metrics::restarts::waits::WaitKind;
use sim_analysis::why::blocked::PendingAdmission;
use sim_analysis::why::explain::{WhatIf, WhyExplanation};
use sim_analysis::why::levers::{LeverSetting, typed};
use sim_base::Duration;
use std::fmt::Write;

/// Maximum number of what-if rows shown. The JSON output contains all.
const MAX_WHAT_IFS: usize = 10;

/// Returns the report. `quoted` quotes a word for the shell.
pub fn text(why: &WhyExplanation, style: &WaterfallStyle, quoted: &dyn Fn(&str) -> String) -> String {
    let mut out = String::new();
    let subject = &why.subject;
    let _ = writeln!(out, "{}", style.bold(&subject.title));
    if !subject.cause.is_empty() {
        paragraph(&mut out, &format!("cause: {}, at {}", subject.cause, subject.start), 2, style);
    }
    if let Some((number, of)) = subject.number.filter(|(_, of)| *of > 1) {
        let _ = writeln!(out, "  restart {number} of {of}; use --restart N to select another");
    }
    let _ = writeln!(out);
    if !why.spans.is_empty() {
        write_critical_path(&mut out, why, style);
    }
    write_blockers(&mut out, why, style, quoted);
    out.push_str(&placement::text(&why.placement, style));
    what_ifs(&mut out, why, style, quoted);
    out
}

fn paragraph(out: &mut String, text: &str, indent: usize, style: &WaterfallStyle) {
    for line in format::wrap(text, style.width - indent) {
        let _ = writeln!(out, "{:indent$}{line}", "");
    }
}

fn write_critical_path(out: &mut String, why: &WhyExplanation, style: &WaterfallStyle) {
    let total = why.subject.total();
    let column = format::seconds_width(total, 8);
    let head = format!("  {:>column$} {:>column$}  {:<10} step and what it waited for", "from", "duration", "phase");
    let _ = writeln!(out, "{}", style.dim(&head));
    for group in critical_spans::groups(&why.spans, total) {
        match group.long {
            Some(longest) => write_group(out, why, (&group, longest), style),
            None => write_short_spans(out, why, &group.spans, style),
        }
    }
    let sum: u64 = why.spans.iter().map(|s| s.step.duration().0).sum();
    let sum = exact_seconds(u128::from(sum));
    let of = match why.subject.kind {
        "restart" => "the complete restart",
        "pod" => "the complete path of the pod",
        _ => "the complete startup",
    };
    let spans = count(why.spans.len() as u64, "span");
    let _ = writeln!(out, "  {spans}, {sum} s in total: {of}\n");
}

fn write_group(
    out: &mut String, why: &WhyExplanation, (group, longest): (&RequestGroup, &CriticalSpan), style: &WaterfallStyle,
) {
    let total = why.subject.total();
    let column = format::seconds_width(total, 8);
    let indent = 2 + column + 1 + column + 2 + 10 + 1;
    let begins = seconds(group.spans[0].step.from.since(why.subject.start));
    let (length, phase) = (seconds(group.time()), longest.phase);
    let room = style.width - indent;
    for (i, line) in format::wrap(&longest.what, room).iter().enumerate() {
        let _ = match i {
            0 => writeln!(out, "  {begins:>column$} {length:>column$}  {phase:<10} {line}"),
            _ => writeln!(out, "{:indent$}{line}", ""),
        };
    }
    let rule = match longest.rule {
        "" => String::new(),
        rule => format!(" [{rule}]"),
    };
    let mut waited = format!("{}{rule}", longest.waited_for);
    let is_similar = group.spans.iter().filter(|s| WaitKind::from_step(&s.step) == WaitKind::from_step(&longest.step));
    let (n, time) = is_similar.fold((0, 0), |(n, t), s| (n + 1, t + s.step.duration().0));
    if n > 1 {
        let longest = seconds(longest.step.duration());
        let time = seconds(Duration(time));
        let _ = write!(waited, ": {longest} here, {n} times and {time} in total");
    }
    let arrow = if style.unicode { "← " } else { "< " };
    for (i, line) in format::wrap(&waited, room - 2).iter().enumerate() {
        let lead = if i == 0 { arrow } else { "  " };
        let _ = writeln!(out, "{:indent$}{}", "", style.dim(&format!("{lead}{line}")));
    }
}

/// Writes a single line for consecutive short spans, with the dominant wait if it is significant.
fn write_short_spans(out: &mut String, why: &WhyExplanation, short: &[&CriticalSpan], style: &WaterfallStyle) {
    let Some(first) = short.first() else { return };
    let total = why.subject.total();
    let column = format::seconds_width(total, 8);
    let begins = seconds(first.step.from.since(why.subject.start));
    let sum = Duration(short.iter().map(|s| s.step.duration().0).sum());
    let n = format::short_spans(short, total);
    let indent = 2 + column + 1 + column + 2 + 10 + 1;
    let lines = format::wrap(&n, style.width - indent);
    let phase = first.phase;
    let head = lines.first().map_or("", String::as_str);
    let line = format!("  {begins:>column$} {:>column$}  {phase:<10} {head}", seconds(sum));
    let _ = writeln!(out, "{}", style.dim(&line));
    for line in lines.iter().skip(1) {
        let _ = writeln!(out, "{:indent$}{}", "", style.dim(line));
    }
}

fn write_blockers(out: &mut String, why: &WhyExplanation, style: &WaterfallStyle, quoted: &dyn Fn(&str) -> String) {
    let Some(blocked) = &why.blocked else { return };
    let _ = writeln!(out, "{}", style.bold("Blocked by"));
    paragraph(out, &format!("{}: {}", blocked.object, blocked.condition), 2, style);
    if let Some(admission) = &blocked.admission {
        write_admission(out, admission, style);
    }
    match &blocked.change {
        Some((setting, takes)) => {
            let text = format!(
                "Smallest tested change that resolves it: {}; the duration is then {}",
                setting.lever,
                seconds(*takes)
            );
            paragraph(out, &text, 2, style);
            let _ = writeln!(out, "    --set {}", quoted_setting(setting, quoted));
        }
        None if why.no_help.is_empty() && why.what_if.is_empty() => {}
        None => paragraph(out, "None of the tested changes resolves it.", 2, style),
    }
    let _ = writeln!(out);
}

/// Writes the cause and the changes that admit the Workload.
fn write_admission(out: &mut String, admission: &PendingAdmission, style: &WaterfallStyle) {
    let words = format!("Kueue lacks {}. {}: {}", admission.cause, admission.reason, admission.message);
    paragraph(out, &words, 2, style);
    if admission.ahead > 0 {
        let ahead = count(admission.ahead as u64, "Workload");
        paragraph(out, &format!("Ahead in the queue: {ahead}."), 2, style);
    }
    let title = match admission.smallest_changes.len() {
        0 => "No single change that was tried admits it.",
        1 => "This change admits it:",
        _ => "Each of these changes admits it:",
    };
    paragraph(out, title, 2, style);
    for remedy in &admission.smallest_changes {
        paragraph(out, &format!("- {}", remedy.sentence()), 4, style);
    }
}

fn quoted_setting(setting: &LeverSetting, quoted: &dyn Fn(&str) -> String) -> String {
    match setting.sets.as_slice() {
        [(path, value)] => quoted(&format!("{path}={value}")),
        sets => typed(sets, quoted),
    }
}

fn what_ifs(out: &mut String, why: &WhyExplanation, style: &WaterfallStyle, quoted: &dyn Fn(&str) -> String) {
    if let Some(binding) = &why.binding {
        let time = format!("{} of {}", seconds(binding.time), seconds(why.subject.total()));
        let mut text = format!("Longest wait: {}, {time}", binding.name);
        if let Some(i) = binding.lever {
            let w = &why.what_if[i];
            let _ = write!(text, "; most effective change: {}, saves {}", w.setting.lever, seconds(w.saves));
        }
        if let Some(lever) = &binding.without_effect {
            let _ = write!(text, "; changing only its lever ({lever}) moves this time to other waits");
        }
        paragraph(out, &text, 2, style);
        let _ = writeln!(out);
    }
    let worth = |w: &&WhatIf| !why.subject.ended || counts(w.saves, why.subject.total());
    let listed = best_of_each(why);
    let listed: Vec<&WhatIf> = listed.into_iter().filter(worth).collect();
    if !listed.is_empty() {
        let title = "What if (each row is a separate run; reproduce it with `run` and the same --set)";
        let _ = writeln!(out, "{}", style.bold(title));
        let takes = match why.subject.kind {
            "restart" => "restart",
            _ => "duration",
        };
        let head = format!("  {:>10} {takes:>10}  change", "saves");
        let _ = writeln!(out, "{}", style.dim(&head));
        let saves = |w: &WhatIf| {
            if why.subject.ended { seconds(w.saves) } else { "unblocks".to_owned() }
        };
        for w in listed.iter().take(MAX_WHAT_IFS) {
            write_what_if(out, (w, &saves(w)), style, quoted);
        }
        let _ = writeln!(out);
    }
    let of_binding = why.binding.as_ref().and_then(|binding| match binding.lever {
        Some(i) => Some(why.what_if[i].setting.lever.as_str()),
        None => binding.without_effect.as_deref(),
    });
    let of_blocked = why.blocked.as_ref().and_then(|blocked| Some(blocked.change.as_ref()?.0.lever.as_str()));
    let is_listed = |lever: &str| {
        let in_table = listed.iter().any(|w| w.setting.lever == lever);
        in_table || of_binding == Some(lever) || of_blocked == Some(lever)
    };
    let small = why.what_if.iter().filter(|w| w.parts_save.is_none()).map(|w| w.setting.lever.as_str());
    let others = small.chain(why.no_help.iter().map(|(s, _)| s.lever.as_str()));
    let mut names: Vec<&str> = Vec::new();
    for lever in others.filter(|lever| !is_listed(lever)) {
        if !names.contains(&lever) {
            names.push(lever);
        }
    }
    if !names.is_empty() {
        let text = format!("Tested, with negligible or no savings: {}", names.join(", "));
        paragraph(out, &text, 2, style);
    }
    let mut is_listed: Vec<&str> = Vec::new();
    for (setting, why) in &why.not_tried {
        if !is_listed.contains(&setting.lever.as_str()) {
            is_listed.push(&setting.lever);
            paragraph(out, &format!("Not testable: {} ({why})", setting.lever), 2, style);
        }
    }
}

/// Returns the best setting of each lever, and the combinations whose saving differs from the sum of the individual
/// savings.
fn best_of_each(why: &WhyExplanation) -> Vec<&WhatIf> {
    let mut displayed: Vec<&WhatIf> = Vec::new();
    let total = why.subject.total();
    for w in &why.what_if {
        let known = displayed.iter().any(|s| s.setting.lever == w.setting.lever);
        let interacts = w.parts_save.is_none_or(|parts| counts(Duration(parts.0.abs_diff(w.saves.0)), total));
        if !known && interacts {
            displayed.push(w);
        }
    }
    displayed
}

fn write_what_if(
    out: &mut String, (w, saves): (&WhatIf, &str), style: &WaterfallStyle, quoted: &dyn Fn(&str) -> String,
) {
    let mut lever = w.setting.lever.clone();
    if let Some(parts) = w.parts_save {
        let _ = write!(lever, " (sum of the individual savings: {})", seconds(parts));
    }
    let room = style.width - 25;
    for (i, line) in format::wrap(&lever, room).iter().enumerate() {
        let _ = match i {
            0 => writeln!(out, "  {:>10} {:>10}  {line}", saves, seconds(w.takes)),
            _ => writeln!(out, "{:25}{line}", ""),
        };
    }
    let set = format!("--set {}", quoted_setting(&w.setting, quoted));
    let displayed = if set.chars().count() > LONGEST {
        "(--set omitted because of its length; see --format json)".to_owned()
    } else {
        set
    };
    let _ = writeln!(out, "{:25}{}", "", style.dim(&displayed));
}

/// Settings longer than this are only in the JSON output.
const LONGEST: usize = 1_000;
