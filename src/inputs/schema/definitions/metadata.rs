//! Field table of object metadata (`metav1.ObjectMeta`).

use crate::schema::field_type::{FieldSchema, FieldType, ObjectSchema, STR_MAP, field, inert};

/// Fields that the API server sets on live objects. They are accepted and ignored.
const LIVE: [FieldSchema; 10] = [
    inert("uid", FieldType::Any),
    inert("resourceVersion", FieldType::Any),
    inert("generation", FieldType::Any),
    inert("creationTimestamp", FieldType::Any),
    inert("deletionTimestamp", FieldType::Any),
    inert("deletionGracePeriodSeconds", FieldType::Any),
    inert("ownerReferences", FieldType::Any),
    inert("finalizers", FieldType::Any),
    inert("managedFields", FieldType::Any),
    inert("selfLink", FieldType::Any),
];

pub static METADATA: ObjectSchema = ObjectSchema {
    kind: "ObjectMeta",
    fields: &[
        field("name", FieldType::Str).doc("Name of the object."),
        field("generateName", FieldType::Str).doc("Prefix from which a name is generated if `name` is absent."),
        field("namespace", FieldType::Str).doc("Namespace of the object. Default: default."),
        field("labels", STR_MAP).doc("Labels of the object."),
        field("annotations", STR_MAP).doc("Annotations of the object."),
        LIVE[0],
        LIVE[1],
        LIVE[2],
        LIVE[3],
        LIVE[4],
        LIVE[5],
        LIVE[6],
        LIVE[7],
        LIVE[8],
        LIVE[9],
    ],
};
