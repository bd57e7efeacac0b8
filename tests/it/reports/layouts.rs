//! Looks at pictures: texts of charts have room, are large enough, and stay on the page, at every size.

use super::{SMALL, run, run_ok, text};
use crate::program::scratch;
use crate::support::cases;
use sim_report::draw::scene::text_width;
use std::fs;

/// Smallest legible font size in pixels.
const SMALLEST: i32 = 9;

/// A text of an SVG file: its box and its font size.
struct DrawnText {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
    size: i32,
    text: String,
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    tag.split_once(&format!(" {name}=\""))?.1.split('"').next()
}

fn number(tag: &str, name: &str) -> i32 {
    attribute(tag, name).and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{name} of {tag}"))
}

/// Returns the width and height of a picture, and its texts.
fn read_picture(svg: &str) -> ((i32, i32), Vec<DrawnText>) {
    let head = svg.split('>').next().unwrap();
    let shown = (number(head, "width"), number(head, "height"));
    let drawn = |part: &str| {
        let (tag, rest) = part.split_once('>').unwrap();
        let tag = format!(" {tag}");
        let (x, baseline, size) = (number(&tag, "x"), number(&tag, "y"), number(&tag, "font-size"));
        let escaped = rest.split("</text>").next().unwrap();
        let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
        let text = marks.iter().fold(escaped.to_owned(), |text, (from, to)| text.replace(from, to));
        let width = text_width(&text, size);
        let left = match attribute(&tag, "text-anchor") {
            Some("middle") => x - width / 2,
            Some("end") => x - width,
            _ => x,
        };
        let middle = baseline - size * 36 / 100;
        DrawnText { left, top: middle - size / 2, right: left + width, bottom: middle + size / 2, size, text }
    };
    (shown, svg.split("<text ").skip(1).map(drawn).collect())
}

/// Asserts that a picture is legible. `what` names it.
fn assert_legible(what: &str, svg: &str) {
    let ((width, height), texts) = read_picture(svg);
    assert!(texts.len() > 3, "{what}");
    for (i, a) in texts.iter().enumerate() {
        assert!(a.left >= 0 && a.top >= 0, "{what}: {:?} starts outside of the page", a.text);
        assert!(a.right <= width && a.bottom <= height, "{what}: {:?} ends outside of the page", a.text);
        assert!(a.size >= SMALLEST, "{what}: {:?} has {} px", a.text, a.size);
        for b in &texts[i + 1..] {
            let overlaps = a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
            assert!(!overlaps, "{what}: {:?} overlaps {:?}", a.text, b.text);
        }
    }
}

/// Draws a chart at several sizes. A size that is too small is refused with a size that is large enough.
fn look_at(words: &[&str], out: &str) {
    run_ok(&[&["plot"], words, &["--quiet", "--out", out]].concat());
    assert_legible(&format!("{words:?}"), &text(out.as_ref()));
    for &size in &["640x360", "3840x2160"][..cases(1, 2) as usize] {
        let what = format!("{words:?} at {size}");
        let drawn = |size: &str| run(&[&["plot"], words, &["--size", size, "--quiet", "--out", out]].concat());
        let (code, message) = drawn(size);
        let size = match code {
            Some(0) => size.to_owned(),
            _ => {
                assert!(size != "3840x2160", "{what}: {message}");
                assert!(code == Some(2) && message.contains("would be illegible"), "{what}: {message}");
                let larger = message.split("use at least ").nth(1).and_then(|rest| rest.split(',').next());
                let larger = larger.expect("a size that is large enough").to_owned();
                let (code, message) = drawn(&larger);
                assert_eq!(code, Some(0), "{what}: {message}");
                larger
            }
        };
        let svg = text(out.as_ref());
        let ((width, height), _) = read_picture(&svg);
        assert_eq!(format!("{width}x{height}"), size, "{what}");
        assert_legible(&what, &svg);
    }
}

#[test]
fn texts_of_charts_of_runs_have_room_at_every_size() {
    let dir = scratch("layouts-runs");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let out = at("p.svg");
    let (kueue, grace) = ("scenarios/kueue.yaml", "scenarios/regime-grace-bound.yaml");
    let island = "scenarios/lost-host.yaml";
    let charts = [
        vec!["waterfall", SMALL],
        vec!["restarts", SMALL],
        vec!["restarts", SMALL, grace, island, SMALL, SMALL, SMALL],
        vec!["gantt", SMALL],
        vec!["gantt", kueue, "--window", "0..100s"],
        vec!["queues", SMALL],
        vec!["utilization", SMALL],
        vec!["fragmentation", island],
        vec!["map", SMALL],
        vec!["map", SMALL, "--at", "30s"],
        vec!["map", SMALL, "--at", "30s", "--color-by", "stranded"],
        vec!["quota", kueue],
        vec!["workloads", kueue],
        vec!["scaling", "reports/ttr-baseline.json", "--case", "kill-process"],
    ];
    for words in charts.into_iter().step_by(cases(2, 1) as usize) {
        look_at(&words, &out);
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn texts_of_charts_of_comparisons_and_sweeps_have_room_at_every_size() {
    let dir = scratch("layouts-many");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let out = at("p.svg");
    let (compared, swept, scattered) = (at("cmp"), at("sw"), at("hc"));
    let training = "scenarios/training.yaml";
    let every = ["--grid", "training.checkpoint.every=5m,20m,1h", "--grid", "faultProcesses.0.mtbf=10d,20d"];
    let range = ["--range", "training.checkpoint.every=5m..1h", "--lhs", "3"];
    let common = |out| ["--seeds", "3", "--quiet", "--out", out];
    run_ok(&[&["compare", training], &common(&compared)[..]].concat());
    run_ok(&[&["sweep", training], &every[..], &common(&swept)].concat());
    run_ok(&[&["sweep", training], &range[..], &common(&scattered)].concat());
    let kinds = ["differences", "availability", "ledger", "distributions", "goodput", "cdf"];
    for kind in &kinds[..cases(1, 3) as usize] {
        look_at(&[kind, &compared], &out);
    }
    for kind in &["bands", "heat", "scaling"][..cases(1, 2) as usize] {
        look_at(&[kind, &swept], &out);
    }
    look_at(&["scaling", &swept, "--metric", "goodput"], &out);
    look_at(&["scatter", &scattered], &out);
    fs::remove_dir_all(dir).unwrap();
}
