//! Console output: why pods have no node, per plugin and topology domain, and the smallest change that admits them.

use super::page::{Block, Page, Rank, wrapped};
use super::waterfall::WaterfallStyle;
use sim_analysis::format;
use sim_engine::record::PendingPods;

/// Maximum number of domains shown per row. The JSON output contains all.
const MAX_DOMAINS: usize = 8;

/// Returns one section per group of pods; empty without pods.
pub fn text(pending: &[PendingPods], style: &WaterfallStyle) -> String {
    let text = |block: Block| block.complete() + "\n\n";
    pending.iter().map(|group| text(group_block(group, Rank::Main, style))).collect()
}

/// Adds the groups to a page. The first one has a higher rank than the others.
pub(super) fn push_groups(page: &mut Page<'_>, pending: &[PendingPods], style: &WaterfallStyle) {
    for (at, group) in pending.iter().enumerate() {
        page.push(group_block(group, if at == 0 { Rank::Main } else { Rank::Note }, style));
    }
}

/// Returns the rejections per plugin, and the smallest change as the last entry.
fn group_block(group: &PendingPods, rank: Rank, style: &WaterfallStyle) -> Block {
    let explanation = &group.explanation;
    let first = group.pods.first().map_or("", String::as_str);
    let others = match group.pods.len() {
        0 | 1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let nodes = format::count(explanation.nodes as u64, "node");
    let is_tried = !explanation.rejected.is_empty();
    let what = if is_tried { format!("every filter on {nodes}") } else { explanation.message.clone() };
    let mut title = style.bold(&format!("Placement of pod {first}{others}: {what}"));
    let width = explanation.rejected.iter().map(|row| row.plugin.name().len()).max().unwrap_or(0).max(6);
    let head = format!("  {:>8}  {:<width$}  reason", "rejected", "plugin");
    if is_tried {
        title = format!("{title}\n{}", style.dim(&head));
    }
    let mut block = Block::new(rank, title).noun("row").minimum(1, 1);
    for row in &explanation.rejected {
        let mut lines = vec![format!("  {:>8}  {:<width$}  {}", row.nodes(), row.plugin.name(), row.reason)];
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
            lines.extend(indented(&domains, 12 + width, style));
        }
        block = block.entry(lines.join("\n"));
    }
    let change = explanation.change.as_ref().map_or("none known".to_owned(), |change| change.text());
    block.entry(indented(&format!("Smallest change: {change}"), 2, style).join("\n"))
}

fn indented(text: &str, indent: usize, style: &WaterfallStyle) -> Vec<String> {
    let lines = wrapped(text, style.width.saturating_sub(indent).max(20), LONGEST_TEXT, style);
    lines.iter().map(|line| format!("{:indent$}{line}", "")).collect()
}

/// Maximum number of lines of a text on a page.
const LONGEST_TEXT: usize = 3;
