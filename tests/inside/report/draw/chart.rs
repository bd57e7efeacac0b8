//! Unit tests of `sim_report::draw::chart`.

use super::*;
use crate::figures::restart_figure::tests::{bars, panels};
use crate::figures::{growth_figure, restart_figure};

#[test]
fn markup_in_chart_names_is_escaped() {
    let dir = std::env::temp_dir().join(format!("jobset-sim-test-name-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("a.svg");
    let title = "<script>&\"\u{1b}[2J\u{202e}";
    save(&restart_figure::restart_bars(title, title, &bars(), &[], SLIDE), &file).unwrap();
    let svg = std::fs::read_to_string(&file).unwrap();
    assert!(!svg.contains("<script") && svg.contains("&lt;script"), "{svg}");
    assert!(!svg.contains(['\u{1b}', '\u{202e}']), "{svg}");
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn svg_and_png_are_written_and_other_formats_rejected() {
    let dir = std::env::temp_dir().join(format!("jobset-sim-test-chart-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let scene = restart_figure::restart_bars("Title", "subtitle", &bars(), &[], SLIDE);
    let draw = |name: &str| save(&scene, &dir.join(name));
    draw("a.svg").unwrap();
    let svg = std::fs::read_to_string(dir.join("a.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("InPlaceRestart"));
    if cfg!(feature = "png") {
        draw("a.png").unwrap();
        save(&growth_figure::growth("Growth", &panels(), SLIDE), &dir.join("g.png")).unwrap();
        assert_eq!(&std::fs::read(dir.join("a.png")).unwrap()[1..4], b"PNG");
    }
    assert!(draw("a.pdf").is_err());
    let nowhere = draw("nowhere/a.png").unwrap_err().to_string();
    assert!(!nowhere.contains(['{', '"']), "in plain words: {nowhere}");
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_chart_has_the_requested_size_or_is_refused_with_a_size_that_is_large_enough() {
    let draw = |n: usize| {
        let many: Vec<_> = bars().into_iter().cycle().take(n).collect();
        move |size| restart_figure::restart_bars("Title", "subtitle", &many, &["a footer".to_owned()], size)
    };
    for n in [1, 2, 5, 12] {
        for size in [(640, 360), (800, 450), (1280, 720), (1600, 900), (3200, 1800), (640, 4320)] {
            match fitted(size, draw(n)) {
                Ok(scene) => {
                    assert_eq!((scene.width, scene.height), size);
                    assert_eq!(scene.layout_defect(), None);
                    assert!(scene.smallest_font_size().unwrap() >= 9, "{n} bars at {size:?}");
                }
                Err(error) => {
                    assert!((size.0 < 1600 || n > 5) && error.needed > size, "{n} bars: {error}");
                    assert!(fitted(error.needed, draw(n)).is_ok(), "{n} bars: {error}");
                }
            }
        }
    }
    assert!(draw(12)(SLIDE).height > SLIDE.1, "without a size, the page grows with the content");
}
