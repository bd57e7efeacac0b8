//! Fields for failure rates, which the fault processes of Fleets and scenarios share.

use super::distribution::{EMPIRICAL, GAMMA_SHAPE, WEIBULL_SHAPE};
use crate::schema::field_type::{FieldSchema, FieldType, ObjectSchema, STR_LIST, field};

pub const RATES: [&str; 3] = ["mtbf", "perMinute", "per1000NodeDays"];

/// Fields for the rate and the distribution of failures, for nodes, domains and pods.
pub const RATE: [FieldSchema; 5] = [
    field(RATES[0], FieldType::Duration).doc("Mean time to failure of one component.").example("200d"),
    field(RATES[1], FieldType::Number(0.0, 1e9)).doc("Failure rate of one component, per minute.").example("6.9e-6"),
    field(RATES[2], FieldType::Number(0.0, 1e9)).doc("Failure rate of one component, per 1,000 days.").example("5"),
    field("times", FieldType::Number(0.0, 1e9))
        .doc("Factor by which the rate is multiplied.")
        .default("1")
        .example("5"),
    field("distribution", FieldType::Object(&SHAPE))
        .doc(
            "Distribution of the time from the start or the last repair to the failure. The rate determines its \
             mean.",
        )
        .otherwise("exponential")
        .example("{weibull: {shape: 0.8}}"),
];

static SHAPE: ObjectSchema = ObjectSchema {
    kind: "LifeShape",
    fields: &[
        field("weibull", FieldType::Object(&WEIBULL))
            .doc("Weibull distribution. A shape below 1 models early failures, a shape above 1 wear-out.")
            .example("{shape: 0.8}"),
        field("logNormal", FieldType::Object(&SIGMA))
            .doc("Log-normal distribution: many short lifetimes and few long ones.")
            .example("{sigma: 1}"),
        field("gamma", FieldType::Object(&GAMMA))
            .doc("Gamma distribution. A shape below 1 models early failures, a shape above 1 wear-out.")
            .example("{shape: 0.8}"),
        field("empirical", EMPIRICAL)
            .doc("Empirical distribution of lifetimes, scaled by one factor to the required mean.")
            .example("[1d, 3d, 90d]"),
    ],
};

static WEIBULL: ObjectSchema = ObjectSchema { kind: "WeibullShape", fields: &[WEIBULL_SHAPE.example("0.8")] };

static SIGMA: ObjectSchema = ObjectSchema {
    kind: "LogNormalShape",
    fields: &[field("sigma", FieldType::Number(0.0, 4.0))
        .doc("Standard deviation of the natural logarithm.")
        .required()
        .example("1")],
};

static GAMMA: ObjectSchema = ObjectSchema { kind: "GammaShape", fields: &[GAMMA_SHAPE.example("0.8")] };

/// Fields that refer to a preset of fault rates with several causes.
pub const PRESET: [FieldSchema; 2] = [
    field("preset", FieldType::OneOf(&NAMES))
        .doc(
            "Published fault rates, per node of 8 accelerators (tpu-v4: 4), scaled to the accelerators of the nodes. \
             The entry expands to one process for each cause. Other fields override those of the preset; `times` \
             multiplies the rate.",
        )
        .example("llama3-405b"),
    field("causes", STR_LIST).doc("Causes of the preset to use.").otherwise("all causes").example("[gpu, hbm3]"),
];

/// Names of the published fault rates, in the order of `src/inputs/presets/faults.yaml`.
pub const NAMES: [&str; 9] =
    ["llama3-405b", "rsc-1", "rsc-2", "rsc", "tpu-v4", "ant-2023", "megascale", "opt-175b", "bloom-176b"];
