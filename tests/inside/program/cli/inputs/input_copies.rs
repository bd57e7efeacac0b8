//! Unit tests of `jobset_sim::cli::inputs::input_copies`.

use super::*;

#[test]
fn inputs_of_a_scenario_keep_their_places_relative_to_each_other() {
    let input = |name: &str| (name.to_owned(), "text".to_owned());
    let inputs = [input("x/scenarios/a.yaml"), input("--set"), input("../topologies/t.yaml"), input("m/j.yaml")];
    let kept = copy_scenario(&inputs, &result_options((&[("a.b".into(), "1 2".into())], &[]), (7, None), None));
    let names: Vec<&str> = kept.files.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(names, ["scenarios/a.yaml", "topologies/t.yaml", "scenarios/m/j.yaml"]);
    assert_eq!(kept.command, "jobset-sim run scenarios/a.yaml --set 'a.b=1 2' --seed 7");
}

#[test]
fn what_is_named_from_the_root_on_is_named_by_its_copy() {
    let text = "topology: /t/t.yaml\njobSets: [{manifest: \"/m/t/t.yaml\"}, {manifest: /m/j.yaml}]";
    let input = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let inputs =
        [input("/x/s/a.yaml", text), input("/t/t.yaml", "t"), input("/m/t/t.yaml", "u"), input("/m/j.yaml", "j")];
    let kept = copy_scenario(&inputs, " --set topology=/t/t.yaml");
    let names: Vec<&str> = kept.files.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(names, ["x/s/a.yaml", "t/t.yaml", "m/t/t.yaml", "m/j.yaml"]);
    let expected = "topology: ../../t/t.yaml\njobSets: [{manifest: \"../../m/t/t.yaml\"}, {manifest: \
                        ../../m/j.yaml}]";
    assert_eq!(kept.files[0].1, expected);
    let command = "jobset-sim run x/s/a.yaml --set topology=../../t/t.yaml";
    assert_eq!(kept.command, command);
}

#[test]
fn what_a_name_goes_through_is_kept_as_well() {
    let input = |name: &str| (name.to_owned(), "text".to_owned());
    let inputs = [input("x/a.yaml"), input("sub/../../y/k.yaml"), input("../../z/../k.yaml")];
    let kept = copy_scenario(&inputs, "");
    let here = std::env::current_dir().unwrap();
    let parent = here.file_name().unwrap().to_string_lossy().into_owned();
    let names: Vec<String> = kept.files.iter().map(|f| f.0.clone()).collect();
    for expected in ["x/a.yaml", "y/k.yaml", "x/sub/"] {
        let expected = format!("{parent}/{expected}");
        assert!(names.contains(&expected), "{expected}: {names:?}");
    }
    assert!(names.contains(&"z/".to_owned()), "{names:?}");
}

#[test]
fn manifests_keep_their_order() {
    let file = |name: &str| (name.to_owned(), "text".to_owned());
    let kept = copy_manifests(
        vec![file("b/x.yaml"), file("a/x.yaml")],
        Some(file("t.yaml")),
        vec![file("mine.yaml")],
        " --set controlPlane.preset=mine.yaml --seed 1",
    );
    assert_eq!(
        kept.command,
        "jobset-sim run -f manifests/00-x.yaml -f manifests/01-x.yaml -t topology.yaml --set controlPlane.preset=preset.yaml --seed 1"
    );
}
