//! Charts and critical paths on the page of a run.

use super::run_input::Told;
use super::{Block, Chart};
use crate::assumptions::provenance;
use crate::console::waterfall;
use crate::figures::{map_figure, timeline_figure, waterfall_figure};
use crate::table::Table;
use crate::timeline;
use crate::timeline::closely;
use sim_analysis::format;
use sim_analysis::format::{count, seconds};
use sim_analysis::metrics::Restart;
use sim_analysis::metrics::restarts::critical;
use sim_analysis::metrics::restarts::critical::Group;
use sim_base::*;

/// Width and height of a chart on the page.
pub const SIZE: (u32, u32) = (1600, 700);

pub fn waterfalls(told: &Told<'_>) -> Vec<Block> {
    let run = &told.run;
    let mut blocks = Vec::new();
    for (i, r) in closely(run) {
        let below = provenance::foot(run, &[r], told.defaults);
        let title = format::restart_title(run, r, i + 1);
        blocks.push(Block::Chart(Chart {
            name: format!("waterfall-{}", i + 1),
            alt: format!("{title}. {}", waterfall::longest(run, r)),
            scene: waterfall_figure::waterfall(run, r, i + 1, &below, SIZE),
        }));
    }
    blocks
}

/// Returns the timeline of pods and queues, with the chart of the pods for static output.
pub fn over_time(told: &Told<'_>) -> Vec<Block> {
    let run = &told.run;
    let lanes = timeline::timeline(run, told.pods, told.queued);
    let alt = timeline::alt(&lanes);
    let below = [provenance::of_run(run)];
    let charts = timeline_figure::charts(run, &lanes, &below, SIZE);
    let Some((name, scene)) = charts.into_iter().next() else {
        return Vec::new();
    };
    let chart = Chart {
        name: name.to_owned(),
        alt,
        scene,
    };
    vec![Block::Timeline(Box::new(lanes), chart)]
}

pub fn maps(told: &Told<'_>) -> Vec<Block> {
    let run = &told.run;
    let mut blocks = Vec::new();
    for (i, r) in closely(run) {
        let below = [provenance::of_run(run)];
        let Some(scene) = map_figure::of_restart(run, told.pods, (i, r), &below, SIZE) else {
            continue;
        };
        blocks.push(Block::Chart(Chart {
            name: format!("map-{}", i + 1),
            alt: format!(
                "The nodes of the cluster, before and after restart {}",
                i + 1
            ),
            scene,
        }));
    }
    blocks
}

/// Returns the critical paths as tables, with the same descriptions as in the output of `why`.
pub fn paths(told: &Told<'_>) -> Vec<Block> {
    let run = &told.run;
    let mut blocks = Vec::new();
    for (i, r) in closely(run) {
        let spans = critical::spans(run, told.witness, &r.path, Some(r));
        if spans.is_empty() {
            continue;
        }
        let groups = critical::groups(&spans, r.total());
        let rows = groups.iter().map(|group| row(group, r));
        blocks.push(Block::Heading(format::restart_title(run, r, i + 1)));
        let sum = Duration(spans.iter().map(|s| s.step.duration().0).sum());
        blocks.push(Block::Text(format!(
            "The waits that followed each other from the fault to the end, without a gap: {}, together {}. Whatever is \
             not here did not make it longer.",
            count(spans.len() as u64, "span"),
            seconds(sum)
        )));
        blocks.push(Block::Table(
            Table::new([
                "from",
                "took",
                "phase",
                "what went on",
                "what it waited for",
                "rule",
            ])
            .numbers(&[0, 1])
            .with_rows(rows),
        ));
    }
    if !blocks.is_empty() {
        blocks.push(Block::Text(
            "jobset-sim why tries what would have been different.".to_owned(),
        ));
    }
    blocks
}

fn row(group: &Group<'_>, r: &Restart) -> Vec<String> {
    let first = group.spans[0];
    let from = seconds(first.step.from.since(r.start));
    let took = seconds(group.time());
    match group.long {
        Some(span) => {
            let n = group.spans.len();
            let mut waited = span.waited_for.clone();
            if n > 1 {
                let longest = seconds(span.step.duration());
                waited.push_str(&format!("; the longest of {n} spans, {longest}"));
            }
            let cells = [&from, &took, span.phase, &span.what, &waited, span.rule];
            cells.map(str::to_owned).to_vec()
        }
        None => {
            let n = format::short_spans(&group.spans, r.total());
            let cells = [&from, &took, first.phase, &n, "", ""];
            cells.map(str::to_owned).to_vec()
        }
    }
}
