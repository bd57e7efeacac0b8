//! Unit tests of `sim_api::admission::types`.

use super::*;

/// A misspelled struct name in the tables would otherwise be treated as a struct without fields.
#[test]
fn every_referenced_type_is_in_the_tables() {
    fn check(owner: &str, ty: &SchemaType) {
        match &ty.kind {
            FieldKind::Struct(name) => {
                assert!(!tables().struct_named(name).fields.is_empty(), "{owner}: {name}");
            }
            FieldKind::List(item) | FieldKind::Map(item) => check(owner, item),
            _ => {}
        }
    }
    let all = &tables().structs;
    assert_eq!(all.len(), 146);
    for (name, table) in all {
        for field in &table.fields {
            check(name, &field.ty);
        }
    }
}

#[test]
fn line_words_are_parsed_as_rules() {
    let rj = tables().struct_named("v1alpha2.ReplicatedJob");
    let replicas = rj.field("replicas").map(|f| (&f.rules, f.omit_empty));
    let (rules, omit) = replicas.unwrap();
    assert!(omit && rules.minimum == Some(0) && rules.default == Some(1.into()));
    let depends = &rj.field("dependsOn").unwrap().rules;
    assert_eq!((depends.max_items, depends.keys.as_slice()), (Some(5), &["name"][..]));
    let status = tables().struct_named("v1alpha2.DependsOn").field("status").unwrap();
    assert!(status.rules.required && status.rules.values == ["Ready", "Complete"]);
    assert_eq!(status.ty.kind, FieldKind::String);
    assert_eq!(status.ty.name, "v1alpha2.DependsOnStatus");
    assert!(tables().struct_named("v1.ObjectMeta").field("uid").unwrap().rules.unknown);
    let limits = tables().struct_named("v1.ResourceRequirements").field("limits");
    assert!(matches!(&limits.unwrap().ty.kind, FieldKind::Map(q) if q.kind == FieldKind::Quantity));
}
