//! Field table of preset files, which `recording calibrate` writes and `controlPlane.preset` of a scenario can refer
//! to.

use super::common::{API_VERSION, METADATA};
use super::control_plane::CONTROL_PLANE;
use super::timing::TIMING;
use crate::schema::field_type::FieldType::{Any, List, Object, OneOf, Str};
use crate::schema::field_type::{ObjectSchema, field};

pub static PRESET: ObjectSchema = ObjectSchema {
    kind: "Preset",
    fields: &[
        field("apiVersion", OneOf(&[API_VERSION])).doc("API version of the file format.").required(),
        field("kind", OneOf(&["Preset"])).doc("Kind of the file.").required(),
        field("metadata", Object(&METADATA)).doc("Name and description of the preset.").example("{name: my-cluster}"),
        field("controlPlane", Object(&CONTROL_PLANE))
            .doc("Control plane settings, as in a scenario. The field `preset` must name a built-in preset.")
            .example("{preset: stock, kubeControllerManager: {qps: 50, burst: 60}}"),
        field("timing", Object(&TIMING))
            .doc("Delays, as in a scenario.")
            .example("{apiWrite: {logNormal: {median: 5ms, sigma: 0.4}}}"),
        field("sources", List(&Any)).doc("Source and confidence interval of each value. Informational only."),
        field("groups", List(&Any)).doc("Quantiles of each pod phase by image and pool. Informational only."),
        field("undecided", List(&Str)).doc("Parameters that the recording cannot distinguish. Informational only."),
        field("unseen", List(&Str)).doc("Parameters that the recording does not cover. Informational only."),
    ],
};
