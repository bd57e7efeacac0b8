//! Fields for failure rates, which the fault processes of Fleets and scenarios share.

use super::distribution::{EMPIRICAL, GAMMA_SHAPE, WEIBULL_SHAPE};
use crate::schema::shape::{Field, Object, STR_LIST, Shape, field};

/// The fields that specify a rate.
pub const RATES: [&str; 3] = ["mtbf", "perMinute", "per1000NodeDays"];

/// Fields for the rate and the distribution of failures, for nodes, domains and pods.
pub const RATE: [Field; 5] = [
    field(
        RATES[0],
        Shape::Duration,
        "mean time to the failure of one of them",
    )
    .example("200d"),
    field(
        RATES[1],
        Shape::Number(0.0, 1e9),
        "failures of one of them per minute",
    )
    .example("6.9e-6"),
    field(
        RATES[2],
        Shape::Number(0.0, 1e9),
        "failures per 1,000 days of one of them",
    )
    .example("5"),
    field("times", Shape::Number(0.0, 1e9), "as many times as often")
        .default("1")
        .example("5"),
    field(
        "distribution",
        Shape::Object(&SHAPE),
        "of the time from new or repaired to the failure, with that mean",
    )
    .otherwise("exponential")
    .example("{weibull: {shape: 0.8}}"),
];

static SHAPE: Object = Object {
    kind: "LifeShape",
    fields: &[
        field(
            "weibull",
            Shape::Object(&WEIBULL),
            "failures of the young or of the old",
        )
        .example("{shape: 0.8}"),
        field(
            "logNormal",
            Shape::Object(&SIGMA),
            "many short lives, few long ones",
        )
        .example("{sigma: 1}"),
        field(
            "gamma",
            Shape::Object(&GAMMA),
            "failures of the young or of the old, with a thinner tail",
        )
        .example("{shape: 0.8}"),
        field(
            "empirical",
            EMPIRICAL,
            "lives of a table, all longer or shorter by one factor",
        )
        .example("[1d, 3d, 90d]"),
    ],
};

static WEIBULL: Object = Object {
    kind: "WeibullShape",
    fields: &[WEIBULL_SHAPE.example("0.8")],
};

static SIGMA: Object = Object {
    kind: "LogNormalShape",
    fields: &[field("sigma", Shape::Number(0.0, 4.0), "of the logarithm")
        .required()
        .example("1")],
};

static GAMMA: Object = Object {
    kind: "GammaShape",
    fields: &[GAMMA_SHAPE.example("0.8")],
};

/// Fields that refer to a preset of fault rates with several causes.
pub const PRESET: [Field; 2] = [
    field(
        "preset",
        Shape::OneOf(&NAMES),
        "a published mix: a process for each of its causes; what else is said replaces what the preset says, and `times` \
         multiplies",
    )
    .example("llama3-405b"),
    field("causes", STR_LIST, "those of the preset alone")
        .otherwise("all of them")
        .example("[gpu, hbm3]"),
];

/// Names of the published fault rates, in the order of `src/inputs/presets/faults.yaml`.
pub const NAMES: [&str; 9] = [
    "llama3-405b",
    "rsc-1",
    "rsc-2",
    "rsc",
    "tpu-v4",
    "ant-2023",
    "megascale",
    "opt-175b",
    "bloom-176b",
];
