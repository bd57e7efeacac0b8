//! Console output: why pods have no node, per plugin and topology domain, and the smallest change that admits them.

use crate::console::waterfall::WaterfallStyle;
use sim_analysis::format;
use sim_engine::record::PendingPods;
use std::fmt::Write;

/// Maximum number of domains shown per row. The JSON output contains all.
const MAX_DOMAINS: usize = 8;

/// Returns one section per group of pods; empty without pods.
pub fn text(pending: &[PendingPods], style: &WaterfallStyle) -> String {
    let mut out = String::new();
    for group in pending {
        write_group(&mut out, group, style);
    }
    out
}

fn write_group(out: &mut String, group: &PendingPods, style: &WaterfallStyle) {
    let explanation = &group.explanation;
    let first = group.pods.first().map_or("", String::as_str);
    let others = match group.pods.len() {
        0 | 1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let nodes = format::count(explanation.nodes as u64, "node");
    let is_tried = !explanation.rejected.is_empty();
    let what = if is_tried { format!("every filter on {nodes}") } else { explanation.message.clone() };
    let _ = writeln!(out, "{}", style.bold(&format!("Placement of pod {first}{others}: {what}")));
    let width = explanation.rejected.iter().map(|row| row.plugin.name().len()).max().unwrap_or(0).max(6);
    let head = format!("  {:>8}  {:<width$}  reason", "rejected", "plugin");
    if is_tried {
        let _ = writeln!(out, "{}", style.dim(&head));
    }
    for row in &explanation.rejected {
        let _ = writeln!(out, "  {:>8}  {:<width$}  {}", row.nodes(), row.plugin.name(), row.reason);
        let named = row.domains.iter().map(|(domain, nodes)| match domain.as_str() {
            "" => format!("no label {nodes}"),
            domain => format!("{domain} {nodes}"),
        });
        let mut parts: Vec<String> = named.take(MAX_DOMAINS).collect();
        if row.domains.len() > MAX_DOMAINS {
            parts.push(format!("{} more", row.domains.len() - MAX_DOMAINS));
        }
        if !explanation.topology_key.is_empty() {
            let domains = format!("{}: {}", explanation.topology_key, parts.join(", "));
            write_wrapped(out, &domains, 12 + width, style);
        }
    }
    let change = explanation.change.as_ref().map_or("none known".to_owned(), |change| change.text());
    write_wrapped(out, &format!("Smallest change: {change}"), 2, style);
    let _ = writeln!(out);
}

fn write_wrapped(out: &mut String, text: &str, indent: usize, style: &WaterfallStyle) {
    for line in format::wrap(text, style.width.saturating_sub(indent).max(20)) {
        let _ = writeln!(out, "{:indent$}{line}", "");
    }
}
