//! Console output of `why`: the critical path with its spans, the cause of a blocked state, and what-if runs.

use super::page::{Block, Page, Rank, wrapped};
use super::placement;
use super::style::Detail;
use super::waterfall::{WaterfallStyle, without_period};
use sim_analysis::format;
use sim_analysis::format::{count, exact_seconds, seconds};
use sim_analysis::metrics::CriticalSpan;
use sim_analysis::metrics::restarts::critical_spans;
use sim_analysis::metrics::restarts::critical_spans::{RequestGroup, counts};
use sim_analysis::metrics::restarts::waits::WaitKind;
use sim_analysis::why::blocked::PendingAdmission;
use sim_analysis::why::explain::{DrawShare, WhatIf, WhyExplanation};
use sim_analysis::why::levers::{LeverSetting, typed};
use sim_base::Duration;
use std::cmp::Reverse;
use std::fmt::Write;

/// Maximum number of what-if rows shown. The JSON output contains all.
const MAX_WHAT_IFS: usize = 10;

/// Maximum number of lines of the summary about a pod, and about anything else.
const POD_LINES: usize = 25;
const LINES: usize = 45;
/// Maximum number of steps in the summary.
const MAX_STEPS: usize = 8;
/// Maximum number of lines of a sentence in the summary.
const SENTENCE_LINES: usize = 4;

/// Returns the report. `quoted` quotes a word for the shell.
pub fn text(why: &WhyExplanation, style: &WaterfallStyle, quoted: &dyn Fn(&str) -> String) -> String {
    let mut page = Page::new(if why.subject.kind == "pod" { POD_LINES } else { LINES }, style);
    let subject = &why.subject;
    let mut head = vec![style.bold(&subject.title)];
    if !subject.cause.is_empty() {
        head.push(paragraph(&format!("cause: {}, at {}", subject.cause, subject.caused_at), 2, style));
    }
    if let Some((number, of)) = subject.number.filter(|(_, of)| *of > 1) {
        let (mut count, mut option) = (String::new(), "--restart N".to_owned());
        if subject.is_numbered_by_jobset {
            count = format!(" of JobSet {}", subject.jobset);
            option = format!("--jobset {} {option}", subject.jobset);
        }
        head.push(format!("  restart {number} of {of}{count}; use {option} to select another"));
    }
    // What blocks the JobSet is the answer.
    if why.blocked.is_some() {
        page.push(blockers(why, style, quoted));
    }
    if !why.others_lost.is_empty() {
        let entries = why.others_lost.iter().map(|sentence| paragraph(sentence, 2, style));
        let title = if why.blocked.is_some() { "Also failed or blocked" } else { "Failed or blocked" };
        page.push(Block::new(Rank::Main, style.bold(title)).entries(entries).noun("JobSet").minimum(1, 0));
    }
    page.push(Block::text(Rank::Answer, head.join("\n")));
    if let Some(idle) = &why.idle_domains {
        page.push(Block::text(Rank::Answer, paragraph(&format!("{}.", idle.describe()), 2, style)));
    }
    if style.detail == Detail::Full {
        push_critical_path(&mut page, why, style);
    }
    placement::push_groups(&mut page, &why.placement, style);
    // The reason of a blocked state is the answer; the path up to it comes later in a summary.
    if style.detail == Detail::Brief {
        push_critical_path(&mut page, why, style);
    }
    if let Some(admission) = &why.admission {
        let effect = format!("shortens the {} by at least half of this wait", subject.kind);
        let half = (admission.until - admission.from) / 2.0;
        let others_help = why.what_if.iter().any(|w| w.saves.seconds() >= half);
        let entries = describe_admission((&admission.pending, others_help), &effect, style);
        let wait = seconds(Duration::from_seconds_f64(admission.until - admission.from));
        let kind = match admission.pending.cause {
            "backOff" => "Back-off after an eviction",
            "podsReady" => "Time limit for ready pods",
            "topology" => "Wait for a topology assignment",
            "flavor" => "Wait for a flavor that fits",
            "queue" => "Wait in the queue",
            _ => "Wait for quota",
        };
        let title = format!("{kind}: {wait} from {:.3}s", admission.from);
        page.push(Block::new(Rank::Main, style.bold(&title)).entries(entries).noun("line").minimum(3, 1));
    }
    push_what_ifs(&mut page, why, style, quoted);
    page.finish()
}

/// Wraps a text with an indentation.
fn paragraph(text: &str, indent: usize, style: &WaterfallStyle) -> String {
    let lines = wrapped(text, style.width - indent, SENTENCE_LINES, style);
    let lines = lines.iter().map(|line| format!("{:indent$}{line}", ""));
    lines.collect::<Vec<_>>().join("\n")
}

fn push_critical_path(page: &mut Page<'_>, why: &WhyExplanation, style: &WaterfallStyle) {
    if why.spans.is_empty() {
        return;
    }
    let total = why.subject.total();
    let column = format::seconds_width(total, 8);
    let head = format!("  {:>column$} {:>column$}  {:<10} step and what it waited for", "from", "duration", "phase");
    let groups = critical_spans::groups(&why.spans, total);
    // A summary omits the shortest steps, in any position.
    let mut by_time: Vec<usize> = (0..groups.len()).collect();
    by_time.sort_by_key(|at| Reverse(groups[*at].time()));
    let most = if style.detail == Detail::Brief { MAX_STEPS } else { groups.len() };
    let (listed, omitted) = by_time.split_at(most.min(groups.len()));
    let listed = (0..groups.len()).filter(|at| listed.contains(at)).map(|at| &groups[at]);
    let entry = |group: &RequestGroup| match group.long {
        Some(longest) => format_group(why, (group, longest), style),
        None => format_short_spans(why, &group.spans, style),
    };
    let sum: u64 = why.spans.iter().map(|s| s.step.duration().0).sum();
    let sum = exact_seconds(u128::from(sum));
    let of = match why.subject.kind {
        "restart" => "the complete restart",
        "pod" => "the complete path of the pod",
        _ => "the complete startup",
    };
    let spans = count(why.spans.len() as u64, "span");
    // The steps of a pod that is blocked explain less than its blocker.
    let rank = if why.blocked.is_some() { Rank::Support } else { Rank::Main };
    let block = Block::new(rank, style.dim(&head)).entries(listed.map(entry)).noun("step");
    let block = block.entry(format!("  {spans}, {sum} s in total: {of}"));
    page.push(block.minimum(2, 1).growth(Rank::Support).uncounted(omitted.len() as u64));
}

fn format_group(
    why: &WhyExplanation, (group, longest): (&RequestGroup, &CriticalSpan), style: &WaterfallStyle,
) -> String {
    let mut out = String::new();
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
        rule if rule.is_empty() || style.detail == Detail::Brief => String::new(),
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
    out
}

/// Returns a single line for consecutive short spans, with the dominant wait if it is significant.
fn format_short_spans(why: &WhyExplanation, short: &[&CriticalSpan], style: &WaterfallStyle) -> String {
    let mut out = String::new();
    let Some(first) = short.first() else { return out };
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
    out
}

fn blockers(why: &WhyExplanation, style: &WaterfallStyle, quoted: &dyn Fn(&str) -> String) -> Block {
    let Some(blocked) = &why.blocked else { return Block::new(Rank::Note, "") };
    let mut entries = vec![paragraph(&format!("{}: {}", blocked.object, blocked.condition), 2, style)];
    if let Some(admission) = &blocked.admission {
        entries.extend(describe_admission((admission, blocked.change.is_some()), "admits it", style));
    }
    match &blocked.change {
        Some((setting, takes)) => {
            let duration = match *takes {
                Duration::ZERO => "the restart then does not occur".to_owned(),
                _ if why.subject.ended => "the JobSet then neither fails nor is blocked".to_owned(),
                takes => format!("the duration is then {}", seconds(takes)),
            };
            let end = if blocked.is_unfinished { ", and the JobSet is unfinished at the end of the run" } else { "" };
            let text = format!("Smallest tested change that resolves it: {}; {duration}{end}", setting.lever);
            let set = format!("    --set {}", quoted_setting(setting, quoted));
            entries.push(format!("{}\n{set}", paragraph(&text, 2, style)));
        }
        None if why.no_help.is_empty() && why.what_if.is_empty() => {}
        None => entries.push(paragraph("None of the tested changes resolves it.", 2, style)),
    }
    Block::new(Rank::Main, style.bold("Blocked by")).entries(entries).minimum(4, 1)
}

/// Describes the cause and the changes that admit the Workload. `others_help` states whether a change of something else
/// than the queues has the effect.
fn describe_admission(
    (admission, others_help): (&PendingAdmission, bool), effect: &str, style: &WaterfallStyle,
) -> Vec<String> {
    let reason = if admission.reason.is_empty() { String::new() } else { format!("{}: ", admission.reason) };
    let words = format!("{reason}{}", admission.message);
    let words = match admission.cause {
        "queue" => words,
        "backOff" | "podsReady" => format!("Kueue's configuration: {}.", admission.message),
        "topology" => format!("Kueue finds no topology assignment. {words}"),
        "flavor" => format!("No flavor fits. {words}"),
        cause => format!("Kueue lacks {cause}. {words}"),
    };
    let mut entries = vec![paragraph(&words, 2, style)];
    if admission.ahead > 0 {
        let ahead = count(admission.ahead as u64, "Workload");
        entries.push(paragraph(&format!("Ahead in the queue: {ahead}."), 2, style));
    }
    let title = match admission.smallest_changes.len() {
        0 if others_help => format!("No single change of the queues that was tried {effect}."),
        0 => format!("No single change that was tried {effect}."),
        1 => format!("This change {effect} (tried in a run of its own):"),
        _ => format!("Each of these changes {effect} (each was tried in a run of its own):"),
    };
    entries.push(paragraph(&title, 2, style));
    let remedies = admission.smallest_changes.iter();
    entries.extend(remedies.map(|remedy| paragraph(&format!("- {}", remedy.sentence()), 4, style)));
    if admission.is_incomplete {
        let text = "The maximum number of runs was reached: smaller or other changes may help as well.";
        entries.push(paragraph(text, 2, style));
    }
    entries
}

fn quoted_setting(setting: &LeverSetting, quoted: &dyn Fn(&str) -> String) -> String {
    match setting.sets.as_slice() {
        [(path, value)] => quoted(&format!("{path}={value}")),
        sets => typed(sets, quoted),
    }
}

fn push_what_ifs(page: &mut Page<'_>, why: &WhyExplanation, style: &WaterfallStyle, quoted: &dyn Fn(&str) -> String) {
    if let Some(binding) = &why.binding {
        let time = format!("{} of {}", seconds(binding.time), seconds(why.subject.total()));
        let mut text = format!("Longest wait: {}, {time}", without_period(&binding.name));
        if let Some(i) = binding.lever {
            let w = &why.what_if[i];
            let change = |w: &WhatIf| format!("{}, saves {}", w.setting.lever, seconds(w.saves));
            let best = why.what_if.iter().rev().max_by_key(|w| w.saves).filter(|best| best.saves > w.saves);
            let _ = match best {
                Some(best) => {
                    write!(text, "; most effective change for it: {}; of all changes: {}", change(w), change(best))
                }
                None => write!(text, "; most effective change: {}", change(w)),
            };
        }
        if let Some(lever) = &binding.without_effect {
            let _ = write!(text, "; changing only its lever ({lever}) moves this time to other waits");
        }
        page.push(Block::text(Rank::Main, paragraph(&text, 2, style)));
    }
    let worth = |w: &&WhatIf| !why.subject.ended || counts(w.saves, why.subject.total());
    let listed = best_of_each(why);
    let listed: Vec<&WhatIf> = listed.into_iter().filter(worth).collect();
    if !listed.is_empty() {
        let title = "What if (each row is a separate run; reproduce it with `run` and the same --set)";
        let takes = match why.subject.kind {
            "restart" => "restart",
            _ => "duration",
        };
        let head = format!("  {:>10} {takes:>10}  change", "saves");
        let saves = |w: &WhatIf| {
            if why.subject.ended { seconds(w.saves) } else { "unblocks".to_owned() }
        };
        let rows = listed.iter().take(MAX_WHAT_IFS).map(|w| format_what_if((w, &saves(w)), style, quoted));
        let title = format!("{}\n{}", style.bold(title), style.dim(&head));
        page.push(Block::new(Rank::Main, title).entries(rows).noun("change").minimum(2, 0));
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
    let mut others = Vec::new();
    if !names.is_empty() {
        let text = format!("Tested, with negligible or no savings: {}", names.join(", "));
        others.push(paragraph(&text, 2, style));
    }
    let mut is_listed: Vec<&str> = Vec::new();
    for (setting, why) in &why.not_tried {
        if !is_listed.contains(&setting.lever.as_str()) {
            is_listed.push(&setting.lever);
            others.push(paragraph(&format!("Not testable: {} ({why})", setting.lever), 2, style));
        }
    }
    page.push(Block::new(Rank::Note, "").entries(others).noun("note"));
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

fn format_what_if((w, saves): (&WhatIf, &str), style: &WaterfallStyle, quoted: &dyn Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut lever = w.setting.lever.clone();
    if let Some(parts) = w.parts_save {
        let _ = write!(lever, " (sum of the individual savings: {})", seconds(parts));
    }
    if let Some(DrawShare { with_change, unchanged, draws }) = w.draws {
        let _ = write!(lever, " (in {with_change} of {draws} placements; without it in {unchanged})");
    }
    let room = style.width - 25;
    let takes = if w.is_removed { "none".to_owned() } else { seconds(w.takes) };
    for (i, line) in format::wrap(&lever, room).iter().enumerate() {
        let _ = match i {
            0 => writeln!(out, "  {:>10} {:>10}  {line}", saves, takes),
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
    out
}

/// Settings longer than this are only in the JSON output.
const LONGEST: usize = 1_000;
