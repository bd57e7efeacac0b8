//! Field tables shared by scenarios, Fleets, Topologies and preset files.

use crate::schema::shape::{Field, Object, Shape, field};
use sim_api::spec::Level;

pub const API_VERSION: &str = "jobset-sim/v1alpha1";

pub const INDEX: Shape = Shape::Int(0, u32::MAX as i64 - 1);

pub static METADATA: Object = Object {
    kind: "Metadata",
    fields: &[
        field("name", Shape::Line, "stands in reports")
            .required()
            .example("first-steps"),
        field("description", Shape::Str, "for people")
            .otherwise("empty")
            .example("one pod fails after two minutes"),
    ],
};

/// The field `experiment`, which scenarios and Fleets share.
pub const EXPERIMENTS: Field = field(
    "experiment",
    Shape::Object(&EXPERIMENT),
    "what `compare` and `sweep` play; `run` plays the file itself",
)
.otherwise("the file alone")
.example("{sweep: {axes: [{path: parameters.spares, values: [0, 2, 4]}]}}");

static EXPERIMENT: Object = Object {
    kind: "Experiment",
    fields: &[
        field(
            "variants",
            Shape::NonEmpty(&Shape::Object(&VARIANT)),
            "compared with the scenario itself, which is called baseline, and with each other",
        )
        .otherwise("nothing to compare")
        .example("[{name: patient, set: {spec.failurePolicy.maxRestarts: 50}}]"),
        field(
            "replications",
            Shape::Int(2, 10_000_000),
            "of each variant or point, all under the same random numbers",
        )
        .default("20")
        .example("200"),
        field(
            "sweep",
            Shape::Object(&SWEEP),
            "which fields `sweep` varies",
        )
        .otherwise("what its command line says")
        .example("{axes: [{path: parameters.spares, values: [0, 2, 4]}]}"),
        field(
            "level",
            Shape::OneOf(&LEVELS),
            "how much detail replications have: every pod, or the gang of one JobSet by restart times that are measured \
             first (docs/collapsed.md); a Fleet has no pods anyway",
        )
        .default("Pods")
        .example("Collapsed"),
    ],
};

/// Legal values of `level`.
static LEVELS: [&str; 2] = [Level::Pods.as_str(), Level::Collapsed.as_str()];

static SWEEP: Object = Object {
    kind: "Sweep",
    fields: &[
        field(
            "axes",
            Shape::NonEmpty(&Shape::Object(&AXIS)),
            "each combination of their values is a point; the first axis changes slowest",
        )
        .required()
        .example("[{path: parameters.spares, values: [0, 2, 4]}]"),
        field(
            "latinHypercube",
            Shape::Int(1, 1_000_000),
            "this many values from each axis that is a range, combined so that each part of each range is met once",
        )
        .otherwise("no axis is a range")
        .example("64"),
    ],
};

/// Legal values of `scale`; the first one is the default.
pub const SCALES: [&str; 2] = ["Linear", "Log"];

static AXIS: Object = Object {
    kind: "Axis",
    fields: &[
        field(
            "path",
            Shape::Str,
            "as `--set` takes it; `strategy` sets a restart strategy with all that belongs to it",
        )
        .required()
        .example("parameters.spares"),
        field("values", Shape::NonEmpty(&Shape::Any), "one after another")
            .otherwise("the axis is a range: `from` and `to`")
            .example("[0, 2, 4, 8]"),
        field(
            "from",
            Shape::Any,
            "the lower end of a range of whole numbers, numbers or durations",
        )
        .otherwise("the axis has `values`")
        .example("5m"),
        field("to", Shape::Any, "its upper end")
            .otherwise("the axis has `values`")
            .example("2h"),
        field(
            "scale",
            Shape::OneOf(&SCALES),
            "of a range: equal differences are equally likely, or equal ratios",
        )
        .default("Linear"),
    ],
};

static VARIANT: Object = Object {
    kind: "Variant",
    fields: &[
        field("name", Shape::Line, "stands in reports; not baseline")
            .required()
            .example("patient"),
        field(
            "set",
            Shape::Map(&Shape::Any),
            "path: value, as `--set` takes them; `strategy` sets a restart strategy with all that belongs to it",
        )
        .required()
        .example("{strategy: InPlaceRestart}"),
    ],
};

/// The field `parameters`, which defines the values for `${name}`.
pub const PARAMETERS: Field = field(
    "parameters",
    Shape::Map(&Shape::Any),
    "values by name; elsewhere `${name}` stands for one",
)
.otherwise("none")
.example("{spares: 4}");
