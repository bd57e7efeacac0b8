//! Field tables of durations that can be random.

use crate::schema::shape::{Field, Object, Shape, field};

/// A fixed duration or a distribution of durations.
pub const DELAY: Shape = Shape::Either(&Shape::Duration, &Shape::Object(&DIST));

static DIST: Object = Object {
    kind: "Distribution",
    fields: &[
        field(
            "uniform",
            Shape::Pair(&Shape::Seconds),
            "lowest and highest, equally likely",
        )
        .example("[100ms, 400ms]"),
        field(
            "logNormal",
            Shape::Object(&LOG_NORMAL),
            "a long tail to the right",
        )
        .example("{p50: 300ms, p95: 1s}"),
        field("exponential", Shape::Object(&EXPONENTIAL), "without memory").example("{mean: 2s}"),
        field(
            "weibull",
            Shape::Object(&WEIBULL),
            "below shape 1 a longer tail than exponential, above a shorter one",
        )
        .example("{mean: 2s, shape: 0.8}"),
        field(
            "gamma",
            Shape::Object(&GAMMA),
            "the same, with a thinner tail",
        )
        .example("{mean: 2s, shape: 0.8}"),
        field("empirical", EMPIRICAL, "values of a table").example("[1s, 2s, 30s]"),
    ],
};

/// An empirical distribution, with equal or explicit weights.
pub const EMPIRICAL: Shape =
    Shape::Either(&Shape::NonEmpty(&Shape::Seconds), &Shape::Object(&WEIGHTED));

static WEIGHTED: Object = Object {
    kind: "Empirical",
    fields: &[
        field(
            "values",
            Shape::NonEmpty(&Shape::Seconds),
            "each may be drawn",
        )
        .required()
        .example("[1s, 2s, 30s]"),
        field(
            "weights",
            Shape::List(&Shape::Number(0.0, 1e12)),
            "as many as values: how often each is, in any unit",
        )
        .otherwise("all alike")
        .example("[5, 3, 1]"),
    ],
};

static WEIBULL: Object = Object {
    kind: "Weibull",
    fields: &[MEAN, WEIBULL_SHAPE.example("0.8")],
};

static GAMMA: Object = Object {
    kind: "Gamma",
    fields: &[MEAN, GAMMA_SHAPE.example("0.8")],
};

const MEAN: Field = field("mean", Shape::Seconds, "the average")
    .required()
    .example("2s");

static LOG_NORMAL: Object = Object {
    kind: "LogNormal",
    fields: &[
        field(
            "median",
            Shape::Seconds,
            "half of all are shorter; beside sigma",
        )
        .example("300ms"),
        field("sigma", Shape::Number(0.0, 10.0), "of the logarithm").example("0.3"),
        field("p50", Shape::Seconds, "the median; beside p95").example("300ms"),
        field("p95", Shape::Seconds, "19 of 20 are shorter").example("1s"),
    ],
};

static EXPONENTIAL: Object = Object {
    kind: "Exponential",
    fields: &[MEAN],
};

/// Shape parameter of a gamma distribution.
pub const GAMMA_SHAPE: Field = field(
    "shape",
    Shape::Number(0.05, 1000.0),
    "below 1 the young fail more often, above 1 the old",
)
.required();

/// Shape parameter of a Weibull distribution.
pub const WEIBULL_SHAPE: Field = field(
    "shape",
    Shape::Number(0.3, 100.0),
    "below 1 the young fail more often, above 1 the old",
)
.required();
