//! Field tables of durations that can be random.

use crate::schema::field_type::{FieldSchema, FieldType, ObjectSchema, field};

/// A fixed duration or a distribution of durations.
pub const DELAY: FieldType = FieldType::Either(&FieldType::Duration, &FieldType::Object(&DIST));

static DIST: ObjectSchema = ObjectSchema {
    kind: "Distribution",
    fields: &[
        field("uniform", FieldType::Pair(&FieldType::Seconds))
            .doc("Uniform distribution, as a list of the lowest and the highest value.")
            .example("[100ms, 400ms]"),
        field("logNormal", FieldType::Object(&LOG_NORMAL))
            .doc(
                "Log-normal distribution, which has a long right tail. Specified by `median` and `sigma`, or by \
                 `p50` and `p95`.",
            )
            .example("{p50: 300ms, p95: 1s}"),
        field("exponential", FieldType::Object(&EXPONENTIAL))
            .doc("Exponential distribution, which is memoryless.")
            .example("{mean: 2s}"),
        field("weibull", FieldType::Object(&WEIBULL))
            .doc(
                "Weibull distribution. The tail is longer than exponential for shape below 1, and shorter for shape \
                 above 1.",
            )
            .example("{mean: 2s, shape: 0.8}"),
        field("gamma", FieldType::Object(&GAMMA))
            .doc(
                "Gamma distribution. For shape below 1, its tail is shorter than that of a Weibull distribution with \
                 the same shape.",
            )
            .example("{mean: 2s, shape: 0.8}"),
        field("empirical", EMPIRICAL)
            .doc("Empirical distribution, as a list of values or as values with weights.")
            .example("[1s, 2s, 30s]"),
    ],
};

/// An empirical distribution, with equal or explicit weights.
pub const EMPIRICAL: FieldType =
    FieldType::Either(&FieldType::NonEmpty(&FieldType::Seconds), &FieldType::Object(&WEIGHTED));

static WEIGHTED: ObjectSchema = ObjectSchema {
    kind: "Empirical",
    fields: &[
        field("values", FieldType::NonEmpty(&FieldType::Seconds))
            .doc("Values of the distribution.")
            .required()
            .example("[1s, 2s, 30s]"),
        field("weights", FieldType::List(&FieldType::Number(0.0, 1e12)))
            .doc("Relative weight of each value, in any unit. The list must be as long as `values`.")
            .otherwise("equal weights")
            .example("[5, 3, 1]"),
    ],
};

static WEIBULL: ObjectSchema = ObjectSchema { kind: "Weibull", fields: &[MEAN, WEIBULL_SHAPE.example("0.8")] };

static GAMMA: ObjectSchema = ObjectSchema { kind: "Gamma", fields: &[MEAN, GAMMA_SHAPE.example("0.8")] };

const MEAN: FieldSchema = field("mean", FieldType::Seconds).doc("Mean of the distribution.").required().example("2s");

static LOG_NORMAL: ObjectSchema = ObjectSchema {
    kind: "LogNormal",
    fields: &[
        field("median", FieldType::Seconds).doc("Median of the distribution. Requires `sigma`.").example("300ms"),
        field("sigma", FieldType::Number(0.0, 10.0))
            .doc("Standard deviation of the natural logarithm. Requires `median`.")
            .example("0.3"),
        field("p50", FieldType::Seconds).doc("Median (50th percentile). Requires `p95`.").example("300ms"),
        field("p95", FieldType::Seconds).doc("95th percentile. Requires `p50`.").example("1s"),
    ],
};

static EXPONENTIAL: ObjectSchema = ObjectSchema { kind: "Exponential", fields: &[MEAN] };

/// Shape parameter of a gamma distribution.
pub const GAMMA_SHAPE: FieldSchema = field("shape", FieldType::Number(0.05, 1000.0))
    .doc("Shape parameter. Below 1 the hazard rate decreases with age, above 1 it increases.")
    .required();

/// Shape parameter of a Weibull distribution.
pub const WEIBULL_SHAPE: FieldSchema = field("shape", FieldType::Number(0.3, 100.0))
    .doc("Shape parameter. Below 1 the hazard rate decreases with age, above 1 it increases.")
    .required();
