//! Field table of preset files, which `recording calibrate` writes and `controlPlane.preset` of a scenario can refer
//! to.

use super::common::{API_VERSION, METADATA};
use super::control_plane::CONTROL_PLANE;
use super::timing::TIMING;
use crate::schema::shape::{Object, Shape, field};

pub static PRESET: Object = Object {
    kind: "Preset",
    fields: &[
        field("apiVersion", Shape::OneOf(&[API_VERSION]), "of this format").required(),
        field("kind", Shape::OneOf(&["Preset"]), "of this file").required(),
        field("metadata", Shape::Object(&METADATA), "{name: ...}").example("{name: my-cluster}"),
        field(
            "controlPlane",
            Shape::Object(&CONTROL_PLANE),
            "as in a scenario; its `preset` is one of the known ones",
        )
        .example("{preset: stock, kubeControllerManager: {qps: 50, burst: 60}}"),
        field("timing", Shape::Object(&TIMING), "as in a scenario")
            .example("{apiWrite: {logNormal: {median: 5ms, sigma: 0.4}}}"),
        field(
            "sources",
            Shape::List(&Shape::Any),
            "where each value is from, with its interval; for people",
        ),
        field(
            "groups",
            Shape::List(&Shape::Any),
            "each phase of pods by image and pool, with its quantiles; for people",
        ),
        field(
            "undecided",
            Shape::List(&Shape::Str),
            "what could not be told apart; for people",
        ),
        field(
            "unseen",
            Shape::List(&Shape::Str),
            "what was not seen; for people",
        ),
    ],
};
