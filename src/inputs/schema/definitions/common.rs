//! Field tables shared by scenarios, Fleets, Topologies and preset files.

use crate::schema::field_type::FieldType::{Any, Bool, Int, Line, Map, NonEmpty, Object, OneOf, Str};
use crate::schema::field_type::{FieldSchema, FieldType, ObjectSchema, field};
use sim_api::spec::ModelLevel;

pub const API_VERSION: &str = "jobset-sim/v1alpha1";

pub const INDEX: FieldType = Int(0, u32::MAX as i64 - 1);

pub static METADATA: ObjectSchema = ObjectSchema {
    kind: "Metadata",
    fields: &[
        field("name", Line).doc("Name shown in reports.").required().example("first-steps"),
        field("description", Str)
            .doc("Free-form description for readers of the file.")
            .otherwise("empty")
            .example("one pod fails after two minutes"),
    ],
};

/// The field `experiment`, which scenarios and Fleets share.
pub const EXPERIMENTS: FieldSchema = field("experiment", Object(&EXPERIMENT))
    .doc("Variants and sweeps for `compare` and `sweep`; `run` ignores this field.")
    .otherwise("no experiment")
    .example("{sweep: {axes: [{path: parameters.spares, values: [0, 2, 4]}]}}");

static EXPERIMENT: ObjectSchema = ObjectSchema {
    kind: "Experiment",
    fields: &[
        field("variants", NonEmpty(&Object(&VARIANT)))
            .doc("Variants to compare with each other and with the unmodified file, which is called `baseline`.")
            .otherwise("no variants")
            .example("[{name: patient, set: {spec.failurePolicy.maxRestarts: 50}}]"),
        field("replications", Int(2, 10_000_000))
            .doc("Number of replications of each variant or sweep point. All variants use the same random numbers.")
            .default("20")
            .example("200"),
        field("sweep", Object(&SWEEP))
            .doc("Fields that `sweep` varies.")
            .otherwise("the axes on the command line")
            .example("{axes: [{path: parameters.spares, values: [0, 2, 4]}]}"),
        field("level", OneOf(&LEVELS))
            .doc(
                "Level of detail of the replications: `Pods` simulates every pod and request; `Nodes` simulates nodes, \
                 Jobs and JobSets with delays of restarts measured beforehand (docs/levels.md). Has no effect on a \
                 Fleet.",
            )
            .otherwise("`Nodes` in `plan`, `sweep` and `sensitivity` if it supports the inputs, else `Pods`")
            .example("Nodes"),
    ],
};

/// Legal values of `level`.
static LEVELS: [&str; 2] = [ModelLevel::Pods.as_str(), ModelLevel::Nodes.as_str()];

static SWEEP: ObjectSchema = ObjectSchema {
    kind: "Sweep",
    fields: &[
        field("axes", NonEmpty(&Object(&AXIS)))
            .doc("Axes of the sweep. Each combination of their values is a point; the first axis varies slowest.")
            .required()
            .example("[{path: parameters.spares, values: [0, 2, 4]}]"),
        field("latinHypercube", Int(1, 1_000_000))
            .doc(
                "Number of Latin hypercube samples over the axes that are ranges. Each range is divided into \
                 this many parts, and each part is sampled once.",
            )
            .otherwise("none; then no axis may be a range")
            .example("64"),
    ],
};

/// Legal values of `scale`; the first one is the default.
pub const SCALES: [&str; 2] = ["Linear", "Log"];

static AXIS: ObjectSchema = ObjectSchema {
    kind: "Axis",
    fields: &[
        field("path", Str)
            .doc(
                "Path of the field, as in `--set`. The path `strategy` sets a restart strategy together with \
                 the fields it requires.",
            )
            .required()
            .example("parameters.spares"),
        field("values", NonEmpty(&Any))
            .doc("Values of the axis, in the order in which they are run.")
            .otherwise("required unless `from` and `to` are set")
            .example("[0, 2, 4, 8]"),
        field("from", Any)
            .doc("Lower end of a range of integers, numbers or durations.")
            .otherwise("required unless `values` is set")
            .example("5m"),
        field("to", Any).doc("Upper end of the range.").otherwise("required unless `values` is set").example("2h"),
        field("scale", OneOf(&SCALES))
            .doc("Distribution of the samples over a range: uniform (`Linear`) or log-uniform (`Log`).")
            .default("Linear"),
        field("uncertain", Bool)
            .doc(
                "Whether the values are an uncertainty, which cannot be chosen. No point is then called best; \
                 the best choice is reported for each value.",
            )
            .otherwise("true for failure rates and other fields of faults, false for others")
            .example("true"),
    ],
};

static VARIANT: ObjectSchema = ObjectSchema {
    kind: "Variant",
    fields: &[
        field("name", Line)
            .doc("Name of the variant in reports. `baseline` is reserved.")
            .required()
            .example("patient"),
        field("set", Map(&Any))
            .doc(
                "Overrides of the variant as a mapping from path to value, as in `--set`. The path `strategy` \
                 sets a restart strategy together with the fields it requires.",
            )
            .required()
            .example("{strategy: InPlaceRestart}"),
    ],
};

/// The field `parameters`, which defines the values for `${name}`.
pub const PARAMETERS: FieldSchema = field("parameters", Map(&Any))
    .doc("Named parameters. A reference `${name}` anywhere else in the file is replaced by the value.")
    .otherwise("none")
    .example("{spares: 4}");
