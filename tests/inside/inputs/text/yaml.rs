//! Unit tests of `sim_inputs::text::yaml`.

use super::*;

fn text(text: &str) -> SourceText {
    SourceText { file: "x.yaml".into(), text: text.into() }
}

fn error(yaml: &str) -> String {
    parse(&text(yaml)).unwrap_err().to_string()
}

#[test]
fn every_key_and_value_knows_its_place() {
    let docs = parse(&text("a: 1\nb:\n  - x: \"two\"\n---\n# nothing\n---\n{\"c\": [1.5, true]}\n"));
    let docs = docs.unwrap();
    assert_eq!(docs.len(), 2);
    let (key, value) = &docs[0].entries()[0];
    assert_eq!((key.at.line, key.at.column, key.at.len), (1, 1, 1));
    assert_eq!((value.at.line, value.at.column, value.as_int()), (1, 4, Some(1)));
    let (key, value) = &docs[0].get("b").unwrap().items()[0].entries()[0];
    assert_eq!((key.at.line, key.at.column), (3, 5));
    assert_eq!((value.at.line, value.at.column, value.at.len), (3, 8, 5));
    let list = docs[1].get("c").unwrap();
    assert_eq!(list.items()[0].as_f64(), Some(1.5));
    assert_eq!((list.items()[1].at.line, list.items()[1].at.column), (7, 13));
}

#[test]
fn scalars_are_typed_as_kubernetes_types_them() {
    let docs = parse(&text("[1, -2, 1.5, yes, \"yes\", 2026-01-01, ~, 5m, 18446744073709551615, .nan, 2.0, -3e2]"));
    let kinds: Vec<String> = docs.unwrap()[0].items().iter().map(YamlNode::describe).collect();
    assert_eq!(
        kinds,
        [
            "the integer 1", "the integer -2", "the number 1.5", "the boolean true", "the string \"yes\"",
            "the string \"2026-01-01\"", "null", "the string \"5m\"", "the number 1.8446744073709552e19",
            "the number NaN", "the integer 2", "the integer -300"
        ]
    );
}

#[test]
fn bombs_depth_and_duplicates_are_rejected_with_a_place() {
    assert!(error("a: 1\na: 2\n").contains("duplicate key \"a\"\n --> x.yaml:2:1"));
    let deep = format!("{}1{}", "[".repeat(2000), "]".repeat(2000));
    assert!(error(&deep).contains("nested too deeply"), "{}", error(&deep));
    let block: String = (0..100).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    assert!(error(&block).contains("nested too deeply"), "{}", error(&block));
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..9 {
        let row = vec![format!("*a{}", i - 1); 10].join(", ");
        bomb.push_str(&format!("a{i}: &a{i} [{row}]\n"));
    }
    assert!(error(&bomb).contains("alias"), "{}", error(&bomb));
    let large = " ".repeat(TEXT_MAX as usize + 1);
    assert!(error(&large).contains("too large"));
}

#[test]
fn what_may_be_nested_is_read_on_any_stack_and_what_may_not_is_rejected_with_its_place() {
    let nested = |depth: usize| {
        let lists = format!("a: {}1{}", "[".repeat(depth - 1), "]".repeat(depth - 1));
        let maps: String = (0..depth).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
        [lists, maps]
    };
    let small = move || {
        for yaml in nested(DEPTH_MAX) {
            assert!(parse(&text(&yaml)).is_ok(), "{yaml}");
            assert!(first_document(&text(&yaml)).is_ok(), "{yaml}");
        }
        for yaml in nested(DEPTH_MAX + 1) {
            let output = error(&yaml);
            assert!(output.contains("nested too deeply") && output.contains("--> x.yaml:"), "{output}");
            assert!(output.contains("= legal: at most 64 levels"), "{output}");
        }
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10);
    thread.spawn(small).unwrap().join().unwrap();
}

#[test]
fn what_is_not_yaml_is_rejected() {
    for bad in ["a: b: c\n", "a: [1, 2\n", "a:\n\tb: 1\n", "\"open", "{a: 1}}"] {
        let message = error(bad);
        assert!(message.contains("error: not valid YAML"), "{bad:?}: {message}");
        assert!(message.contains("x.yaml:"), "{bad:?}: {message}");
    }
}

/// The YAML specification keeps the last line break of a block scalar only if the text has one.
#[test]
fn a_block_scalar_at_the_end_of_a_text_gains_no_line_break() {
    for (yaml, expected) in [
        ("a:\n  b: |\n    one\n    two", "one\ntwo"),
        ("a:\n  b: |\n    one\n    two\n", "one\ntwo\n"),
        ("a:\n  b: |+\n    one\n    two", "one\ntwo"),
        ("a:\n  b: >\n    one\n    two", "one two"),
        ("a:\n  b: |-\n    one", "one"),
        // The line break belongs to the scalar, because a comment follows.
        ("a:\n  b: |\n    one\n# end", "one\n"),
        ("a:\n  b: \"one\\n\"", "one\n"),
    ] {
        let documents = parse(&text(yaml)).unwrap();
        assert_eq!(documents[0].to_json()["a"]["b"], expected, "{yaml:?}");
        let (first, _) = first_document(&text(yaml)).unwrap();
        assert_eq!(first.unwrap().to_json()["a"]["b"], expected, "{yaml:?}");
    }
}
