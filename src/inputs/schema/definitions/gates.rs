//! Field table of Gates files, the conditions of `bench ttr --gates`.

use super::common::API_VERSION;
use crate::schema::field_type::{FieldType, ObjectSchema, STR_LIST, field};

pub static GATES: ObjectSchema = ObjectSchema {
    kind: "Gates",
    fields: &[
        field(
            "apiVersion",
            FieldType::OneOf(&[API_VERSION]),
            "API version of the file format.",
        ),
        field("kind", FieldType::OneOf(&["Gates"]), "Kind of the file."),
        field(
            "gates",
            STR_LIST,
            "Conditions. The command fails with exit code 5 if one is true. The syntax is that of `--fail-if`.",
        )
        .required()
        .example("[\"ttr > +2%\", \"rows.stuck > 0\"]"),
    ],
};
