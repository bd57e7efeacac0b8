//! The table of `faultProcesses` in a scenario.

use super::rate::RATE;
use super::timing::DELAY;
use crate::manifest::shape::{Object, Shape, field};

/// What a fault does, as it is written.
pub const DOES: [&str; 7] = [
    "Crash",
    "Partition",
    "Drain",
    "Exit",
    "Hang",
    "Slow",
    "Corrupt",
];

pub static RANDOM_FAULTS: Object = Object {
    kind: "RandomFaults",
    fields: &[
        field(
            "cause",
            Shape::Str,
            "what they are called; with the name of what fails it names the random numbers",
        )
        .required()
        .example("host"),
        field(
            "on",
            Shape::Either(&Shape::OneOf(&["Node", "Pod"]), &Shape::Object(&DOMAIN)),
            "each node, each pod that the JobSets want, or all nodes of a domain at once",
        )
        .default("Node")
        .example("{label: example.com/rack}"),
        RATE[0],
        RATE[1],
        RATE[2],
        RATE[3],
        RATE[4],
        field(
            "does",
            Shape::OneOf(&DOES),
            "kubelet and containers stop, contact is lost, the node is cordoned and its pods are evicted, or the containers of the pod exit; training stands still (Hang), takes longer steps (Slow) or computes what is wrong (Corrupt), and nobody is told",
        )
        .otherwise("Exit on Pod, Crash on all else"),
        field(
            "exitCode",
            Shape::Int(1, 255),
            "of Exit, and of Hang when a detector ends the process",
        )
        .default("1")
        .example("137"),
        field(
            "detectedAfter",
            DELAY,
            "of Hang: so long after, a detector ends the processes that hang",
        )
        .otherwise("nobody notices")
        .example("10m"),
        field(
            "factor",
            Shape::Number(1.0, 1000.0),
            "of Slow: steps take so many times as long until backAfter is over; of several, the slowest",
        )
        .example("1.3"),
        field(
            "foundAfter",
            DELAY,
            "of Corrupt: so long after, somebody finds out",
        )
        .example("{exponential: {mean: 6h}}"),
        field(
            "backAfter",
            DELAY,
            "time of repair; the next fault is drawn from its end",
        )
        .otherwise("a node never comes back")
        .example("{logNormal: {median: 1h, sigma: 1.9}}"),
        field(
            "asNew",
            Shape::Bool,
            "the repaired node is a new Node of that name",
        )
        .default("false"),
        field(
            "deletedAfter",
            Shape::Duration,
            "so long after the fault the Node is deleted, as a cloud's node repair does, if it is not back by then; what comes back is a new Node",
        )
        .otherwise("never")
        .example("10m"),
    ],
};

static DOMAIN: Object = Object {
    kind: "FaultDomain",
    fields: &[field(
        "label",
        Shape::Str,
        "nodes with one value of it fail at once",
    )
    .required()
    .example("example.com/rack")],
};
