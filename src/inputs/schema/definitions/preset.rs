//! Field table of preset files, which `recording calibrate` writes and `controlPlane.preset` of a scenario can refer
//! to.

use super::common::{API_VERSION, METADATA};
use super::control_plane::CONTROL_PLANE;
use super::timing::TIMING;
use crate::schema::field_type::{FieldType, ObjectSchema, field};

pub static PRESET: ObjectSchema = ObjectSchema {
    kind: "Preset",
    fields: &[
        field("apiVersion", FieldType::OneOf(&[API_VERSION])).doc("API version of the file format.").required(),
        field("kind", FieldType::OneOf(&["Preset"])).doc("Kind of the file.").required(),
        field("metadata", FieldType::Object(&METADATA))
            .doc("Name and description of the preset.")
            .example("{name: my-cluster}"),
        field("controlPlane", FieldType::Object(&CONTROL_PLANE))
            .doc("Control plane settings, as in a scenario. The field `preset` must name a built-in preset.")
            .example("{preset: stock, kubeControllerManager: {qps: 50, burst: 60}}"),
        field("timing", FieldType::Object(&TIMING))
            .doc("Delays, as in a scenario.")
            .example("{apiWrite: {logNormal: {median: 5ms, sigma: 0.4}}}"),
        field("sources", FieldType::List(&FieldType::Any))
            .doc("Source and confidence interval of each value. Informational only."),
        field("groups", FieldType::List(&FieldType::Any))
            .doc("Quantiles of each pod phase by image and pool. Informational only."),
        field("undecided", FieldType::List(&FieldType::Str))
            .doc("Parameters that the recording cannot distinguish. Informational only."),
        field("unseen", FieldType::List(&FieldType::Str))
            .doc("Parameters that the recording does not cover. Informational only."),
    ],
};
