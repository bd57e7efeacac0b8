//! Tests of `sim_report::draw::svg`.

use sim_report::draw::scene::*;
use sim_report::draw::svg::*;
#[test]
fn base64_is_that_of_the_standard() {
    for (text, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")] {
        assert_eq!(base64(text.as_bytes()), coded);
    }
}

#[test]
fn files_and_figures_have_a_title_and_a_description() {
    let mut scene = DrawScene::new((100, 50));
    scene.title = "a < b".to_owned();
    scene.description = "what it shows".to_owned();
    for text in [file(&scene), inline(&scene, "alt")] {
        assert!(text.contains("<title>a &lt; b</title>\n<desc>what it shows</desc>\n"), "{text}");
        assert!(text.contains("role=\"img\""), "{text}");
    }
}

#[test]
fn a_figure_of_a_page_has_its_theme_and_a_file_its_own_colors_and_font() {
    let mut scene = DrawScene::new((100, 50));
    scene.rect(0, 0, 10, 10, PALETTE[1]);
    scene.rect(20, 0, 10, 10, PALETTE[1]);
    scene.line(vec![(0, 0), (5, 0), (5, 7), (9, 9)], 2, GRID);
    scene.text((1, 2), 22, TextAnchor::Middle, TEXT_COLOR, "</text><script>");
    let (file, page) = (file(&scene), inline(&scene, "a \"name\""));
    assert!(file.contains("M0 0h10v10h-10zM20 0h10v10h-10z"), "{file}");
    assert!(file.contains("M0 0h5v7l4 2") && file.contains("stroke=\"#dedede\""), "{file}");
    assert!(file.contains("@font-face") && !page.contains("@font-face"));
    assert!(page.contains("stroke:var(--grid)") && page.contains("fill:var(--ink)"), "{page}");
    assert!(page.contains("aria-label=\"a &quot;name&quot;\""), "{page}");
    for text in [file, page] {
        assert!(!text.contains("<script>") && text.contains("&lt;script&gt;"), "{text}");
    }
}
