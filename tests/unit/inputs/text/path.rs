//! Tests of `sim_inputs::text::path`.

use sim_inputs::text::diagnostic::SourceText;
use sim_inputs::text::node::{YamlNode, YamlValue};
use sim_inputs::text::path::*;
use sim_inputs::text::yaml;
fn set(yaml: &str, path: &str, value: &str) -> Result<YamlNode, String> {
    let source = |text: &str| SourceText { file: "x".into(), text: text.into() };
    let mut node = yaml::parse(&source(yaml)).unwrap().pop().unwrap();
    let sets = [(path.to_owned(), value.to_owned())];
    let overrides = overrides_source("--set", &sets);
    apply_sets(&mut node, &overrides, &sets).map_err(|e| e.to_string())?;
    Ok(node)
}

#[test]
fn a_path_reads_as_people_write_it() {
    let (spec, root) = ("spec", YamlPath::ROOT);
    let a = root.key(spec);
    let b = a.key("replicatedJobs");
    let c = b.index(1);
    assert_eq!(c.key("replicas").to_string(), "spec.replicatedJobs[1].replicas");
    assert_eq!(c.key("a.b/c").to_string(), "spec.replicatedJobs[1][\"a.b/c\"]");
    assert_eq!(c.key("x").without_indexes(), "spec.replicatedJobs[].x");
}

#[test]
fn overrides_replace_and_create_values() {
    let yaml = "a: {b: 1}\nl: [{x: 1}]\n";
    for (path, value, at, expected) in [
        ("a.b", "2", vec!["a", "b"], YamlValue::Int(2)),
        ("a.c.d", "yes", vec!["a", "c", "d"], YamlValue::Bool(true)),
        ("a.k", "2s", vec!["a", "k"], YamlValue::Str("2s".into())),
        ("a[\"k.y/z\"]", "v", vec!["a", "k.y/z"], YamlValue::Str("v".into())),
    ] {
        let node = set(yaml, path, value).unwrap();
        assert_eq!(node.at_path(&at).unwrap().value, expected, "{path}");
    }
    for path in ["l.0.x", "l[0].x"] {
        let node = set(yaml, path, "7").unwrap();
        let item = &node.get("l").unwrap().items()[0];
        assert_eq!(item.get("x").unwrap().as_int(), Some(7));
        assert_eq!(item.get("x").unwrap().at.column, path.len() as u32 + 2);
    }
    let two = "l: [{x: 1}, {x: 2, y: 3}]\n";
    let each = set(two, "l.*.x", "7").unwrap();
    let items = each.get("l").unwrap().items();
    let xs = items.iter().map(|item| item.get("x").unwrap().as_int());
    assert!(xs.eq([Some(7), Some(7)]));
    assert!(items[1].get("y").is_some(), "the other fields remain");
    let grown = set(yaml, "l.1", "{x: 2}").unwrap();
    assert_eq!(grown.get("l").unwrap().items().len(), 2);
}

#[test]
fn overrides_that_cannot_be_are_rejected() {
    for (path, part) in [
        ("", "not a valid path"),
        ("a..b", "not a valid path"),
        ("a.", "not a valid path"),
        (&"a.".repeat(100_000), "not a valid path"),
        ("l[x]", "not a valid path"),
        ("l.5.x", "not a valid index: the length of the list is 1"),
        ("a.b.c", "inside the integer 1"),
        ("none.*.x", "the list is empty"),
    ] {
        let message = set("a: {b: 1}\nl: [1]\nnone: []\n", path, "2").unwrap_err();
        assert!(message.contains(part), "{path}: {message}");
    }
    assert!(set("a: 1\n", "a", "[1").unwrap_err().contains("not valid YAML"));
}
