//! Charts and critical paths on the page of a run.

use super::run_input::RunInputText;
use super::{PageBlock, PageChart};
use crate::figures::map_figure::MapColoring;
use crate::figures::{admission_figure, map_figure, timeline_figure, waterfall_figure};
use crate::{assumptions::provenance, console::waterfall, table::Table, timeline, timeline::highlighted_restarts};
use sim_analysis::format;
use sim_analysis::format::{count, seconds};
use sim_analysis::metrics::RestartMetrics;
use sim_analysis::metrics::restarts::critical_spans;
use sim_analysis::metrics::restarts::critical_spans::RequestGroup;
use sim_base::Duration;

/// Width and height of a chart on the page.
pub const SIZE: (u32, u32) = (1600, 700);

pub fn waterfalls(view: &RunInputText<'_>) -> Vec<PageBlock> {
    let run = &view.run;
    let mut blocks = Vec::new();
    for (i, r) in highlighted_restarts(run) {
        let below = provenance::footer_lines(run, &[r], view.defaults);
        let title = format::restart_title(run, r, i + 1);
        blocks.push(PageBlock::Chart(PageChart {
            name: format!("waterfall-{}", i + 1),
            alt: format!("{title}. {}", waterfall::describe_longest_waits(run, r)),
            scene: waterfall_figure::waterfall(run, r, i + 1, &below, SIZE),
        }));
    }
    blocks
}

/// Returns charts of quotas and Workloads if the run has Workloads of Kueue.
pub fn admission_blocks(view: &RunInputText<'_>) -> Vec<PageBlock> {
    let run = &view.run;
    let below = [provenance::run_provenance(run)];
    let quota = admission_figure::quota(run, None, &below, SIZE);
    let workloads = admission_figure::workloads(run, None, &below, SIZE);
    let chart = |name: &str, alt: &str, scene| {
        PageBlock::Chart(PageChart { name: name.to_owned(), alt: alt.to_owned(), scene })
    };
    let quota = quota.map(|scene| chart("quota", "Usage of quota by ClusterQueue and flavor over time", scene));
    let workloads = workloads.map(|scene| chart("workloads", "Workloads by state over time", scene));
    workloads.into_iter().chain(quota).collect()
}

/// Returns the timeline of pods and queues, with the chart of the pods for static output.
pub fn timeline_blocks(view: &RunInputText<'_>) -> Vec<PageBlock> {
    let run = &view.run;
    let lanes = timeline::timeline(run, view.pods, view.queued, None);
    let alt = timeline::alternative_text(&lanes);
    let below = [provenance::run_provenance(run)];
    let charts = timeline_figure::charts(run, &lanes, &below, SIZE);
    let Some((name, scene)) = charts.into_iter().next() else {
        return Vec::new();
    };
    let chart = PageChart { name: name.to_owned(), alt, scene };
    vec![PageBlock::Timeline(Box::new(lanes), chart)]
}

pub fn maps(view: &RunInputText<'_>) -> Vec<PageBlock> {
    let run = &view.run;
    let mut blocks = Vec::new();
    for (i, r) in highlighted_restarts(run) {
        let below = [provenance::run_provenance(run)];
        let Some(scene) = map_figure::restart_map(run, (&MapColoring::Job, view.pods, None), (i, r), &below, SIZE)
        else {
            continue;
        };
        blocks.push(PageBlock::Chart(PageChart {
            name: format!("map-{}", i + 1),
            alt: format!("Node assignment before and after restart {}", i + 1),
            scene,
        }));
    }
    blocks
}

/// Returns the critical paths as tables, with the same descriptions as in the output of `why`.
pub fn critical_path_blocks(view: &RunInputText<'_>) -> Vec<PageBlock> {
    let run = &view.run;
    let mut blocks = Vec::new();
    for (i, r) in highlighted_restarts(run) {
        let spans = critical_spans::spans(run, view.blockers, &r.path, Some(r));
        if spans.is_empty() {
            continue;
        }
        let groups = critical_spans::groups(&spans, r.total());
        let rows = groups.iter().map(|group| critical_path_row(group, r));
        blocks.push(PageBlock::Heading(format::restart_title(run, r, i + 1)));
        let sum = Duration(spans.iter().map(|s| s.step.duration().0).sum());
        blocks.push(PageBlock::Text(format!(
            "The critical path is the chain of waits from the interruption to the end, without gaps: {}, {} in total. Waits \
             that are not on it did not extend the restart.",
            count(spans.len() as u64, "span"),
            seconds(sum)
        )));
        blocks.push(PageBlock::Table(
            Table::new(["from", "duration", "phase", "step", "waited for", "rule"])
                .with_number_columns(&[0, 1])
                .with_rows(rows),
        ));
    }
    if !blocks.is_empty() {
        blocks.push(PageBlock::Text("Use jobset-sim why to test the effect of changes.".to_owned()));
    }
    blocks
}

fn critical_path_row(group: &RequestGroup<'_>, r: &RestartMetrics) -> Vec<String> {
    let first = group.spans[0];
    let from = seconds(first.step.from.since(r.start));
    let elapsed = seconds(group.time());
    match group.long {
        Some(span) => {
            let n = group.spans.len();
            let mut waited = span.waited_for.clone();
            if n > 1 {
                let longest = seconds(span.step.duration());
                waited.push_str(&format!("; the longest of {n} spans, {longest}"));
            }
            let cells = [&from, &elapsed, span.phase, &span.what, &waited, span.rule];
            cells.map(str::to_owned).to_vec()
        }
        None => {
            let n = format::short_spans(&group.spans, r.total());
            let cells = [&from, &elapsed, first.phase, &n, "", ""];
            cells.map(str::to_owned).to_vec()
        }
    }
}
