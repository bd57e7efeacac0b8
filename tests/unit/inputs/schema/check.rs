//! Tests of `sim_inputs::schema::check`.

use sim_inputs::schema::check::*;
use sim_inputs::schema::field_type::{FieldType, ObjectSchema, STR_MAP, field, inert, not_modelled};
use sim_inputs::text::diagnostic::{DiagnosticReport, SourceText};
use sim_inputs::text::path::YamlPath;
use sim_inputs::text::yaml;
static INNER: ObjectSchema = ObjectSchema {
    kind: "Inner",
    fields: &[
        field("mode", FieldType::OneOf(&["Fast", "Slow"])).required(),
        not_modelled("affinity", FieldType::Any),
        inert("image", FieldType::Str),
    ],
};
static OUTER: ObjectSchema = ObjectSchema {
    kind: "Outer",
    fields: &[
        field("count", FieldType::Int(0, 9)).doc("how many"),
        field("rate", FieldType::Number(0.0, 1.0)),
        field("memory", FieldType::Amount),
        field("wait", FieldType::Duration),
        field("inner", FieldType::List(&FieldType::Object(&INNER))),
        field("labels", STR_MAP),
    ],
};

fn run(text: &str) -> (Vec<String>, UnmodelledFields) {
    let source = SourceText { file: "x".into(), text: text.into() };
    let none = SourceText::default();
    let node = yaml::parse(&source).unwrap().pop().unwrap();
    let mut report = DiagnosticReport::new(&source, &none);
    let mut unmodelled = UnmodelledFields::new();
    let shape = FieldType::Object(&OUTER);
    check(&node, &shape, &YamlPath::ROOT, &mut report, &mut unmodelled);
    let messages = report.found.iter().map(|d| d.message.clone());
    (messages.collect(), unmodelled)
}

#[test]
fn each_wrong_value_is_named_with_its_path() {
    for (text, message) in [
        ("count: 10", "count is 10"),
        ("count: x", "count must be an integer from 0 to 9, found the string \"x\""),
        ("rate: .nan", "rate is NaN"),
        ("rate: -0.5", "rate is -0.5"),
        ("memory: 4Q", "memory: \"4Q\" is not a quantity; write 500m, 2, 1.5, 64Gi, 16G or 129e6"),
        ("memory: -1", "memory: is negative"),
        ("labels: {a: 1}", "labels.a must be a string, found the integer 1"),
        ("inner: {}", "inner must be a list, found a mapping"),
        ("inner: [{}]", "inner[0].mode is required"),
        ("inner: [{mode: fast}]", "inner[0].mode is \"fast\", which is not a valid value"),
        ("inner: [{mode: Fast, imge: x}]", "unknown field \"imge\" in inner[0]"),
        ("cuont: 1", "unknown field \"cuont\" in Outer"),
    ] {
        assert_eq!(run(text).0, [message], "{text}");
    }
    assert!(run("wait: 5").0[0].starts_with("wait: \"5\" has no unit"));
}

#[test]
fn all_errors_are_found_at_once_and_a_correct_tree_has_none() {
    assert_eq!(run("count: -1\nrate: 2\nbogus: 1\n").0.len(), 3);
    let (errors, unmodelled) = run(
        "count: 1\nrate: 0.5\nmemory: 4Gi\nwait: 1s\nlabels: null\ninner:\n- {mode: Fast, image: a, affinity: {x: 1}}\n- {mode: Slow, affinity: {}}\n",
    );
    assert_eq!(errors, [""; 0]);
    assert_eq!(unmodelled.into_iter().collect::<Vec<_>>(), [("inner[].affinity".to_owned(), 1)]);
}
