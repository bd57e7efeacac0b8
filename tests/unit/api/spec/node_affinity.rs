//! Tests of `sim_api::spec::node_affinity`.

use sim_api::spec::node_affinity::*;
fn requirement(text: &str) -> NodeRequirement {
    let mut words = text.split(' ').map(str::to_owned);
    let key = words.next().unwrap_or_default();
    let operator = words.next().as_deref().and_then(NodeOperator::parse);
    NodeRequirement { key, operator, values: words.collect() }
}

/// Matches a term against a node named `n` with the labels pool=red and gen=7.
fn matches(expressions: &[&str], fields: &[&str]) -> bool {
    let all = |texts: &[&str]| texts.iter().map(|t| requirement(t)).collect();
    let term = NodeTerm { expressions: all(expressions), fields: all(fields) };
    term.matches("n", |key| match key {
        "pool" => Some("red".to_owned()),
        "gen" => Some("7".to_owned()),
        _ => None,
    })
}

#[test]
fn a_term_matches_a_node_as_component_helpers_say() {
    for (expression, expected) in [
        ("pool In red", true),
        ("pool In blue red", true),
        ("pool In blue", false),
        ("none In blue", false),
        ("pool In", false),
        ("pool NotIn blue", true),
        ("pool NotIn red", false),
        ("none NotIn red", true),
        ("pool Exists", true),
        ("none Exists", false),
        ("pool Exists red", false),
        ("none DoesNotExist", true),
        ("pool DoesNotExist", false),
        ("gen Gt 6", true),
        ("gen Gt 7", false),
        ("gen Gt 6 5", false),
        ("gen Lt 8", true),
        ("gen Lt 7", false),
        ("pool Gt 1", false),
        ("gen Gt x", false),
        ("none Lt 8", false),
        ("pool Like red", false),
    ] {
        assert_eq!(matches(&[expression], &[]), expected, "{expression}");
    }
    for (field, expected) in [
        ("metadata.name In n", true),
        ("metadata.name In m", false),
        ("metadata.name In n m", false),
        ("metadata.name NotIn m", true),
        ("metadata.name NotIn n", false),
        ("metadata.name Exists", false),
    ] {
        assert_eq!(matches(&[], &[field]), expected, "{field}");
    }
    assert!(!matches(&[], &[]), "an empty term matches nothing");
    assert!(!matches(&["pool In red", "gen Gt 7"], &[]), "all expressions must match");
    assert!(!matches(&["pool In red"], &["metadata.name In m"]));
}
