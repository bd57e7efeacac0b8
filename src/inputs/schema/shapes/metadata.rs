//! Field table of object metadata (`metav1.ObjectMeta`).

use crate::schema::shape::{Field, Object, STR_MAP, Shape, field, inert};

/// Fields that the API server sets on live objects. They are accepted and ignored.
const LIVE: [Field; 10] = [
    inert("uid", Shape::Any),
    inert("resourceVersion", Shape::Any),
    inert("generation", Shape::Any),
    inert("creationTimestamp", Shape::Any),
    inert("deletionTimestamp", Shape::Any),
    inert("deletionGracePeriodSeconds", Shape::Any),
    inert("ownerReferences", Shape::Any),
    inert("finalizers", Shape::Any),
    inert("managedFields", Shape::Any),
    inert("selfLink", Shape::Any),
];

pub static METADATA: Object = Object {
    kind: "ObjectMeta",
    fields: &[
        field("name", Shape::Str, ""),
        field("generateName", Shape::Str, ""),
        field("namespace", Shape::Str, "default: default"),
        field("labels", STR_MAP, ""),
        field("annotations", STR_MAP, ""),
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
