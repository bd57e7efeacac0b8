//! Tests of `sim_inputs::text::locate`.

use sim_inputs::SourceText;
use sim_inputs::text::locate::*;
use sim_inputs::text::yaml;
#[test]
fn a_path_leads_to_the_nearest_place_that_was_written() {
    let text = "spec:\n  jobs:\n  - name: a\n  - name: b\n    n: 1\n  labels:\n    x.y/z: 1\n    x: {y: 2}\n";
    let source = SourceText { file: "x".into(), text: text.into() };
    let root = yaml::parse(&source).unwrap().remove(0);
    let result = |path| locate(&root, path).map(|p| (p.key.line, p.is_complete));
    assert_eq!(result("spec.jobs[1].n"), Some((5, true)));
    assert_eq!(result("spec.jobs[0].n"), Some((3, false)));
    assert_eq!(result("spec.jobs[7].n"), Some((2, false)));
    assert_eq!(result("spec.labels.x.y/z"), Some((7, true)));
    assert_eq!(result("spec.labels[x.y/z]"), Some((7, true)));
    assert_eq!(result("spec.labels.x.y"), Some((8, true)));
    assert_eq!(result("status"), None);
}
