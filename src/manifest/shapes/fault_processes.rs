//! The table of `faultProcesses` in a scenario.

use super::rate::RATE;
use super::timing::DELAY;
use crate::manifest::shape::{Object, Shape, field};

/// What a fault does, as it is written.
pub const DOES: [&str; 4] = ["Crash", "Partition", "Drain", "Exit"];

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
            "kubelet and containers stop, contact is lost, the node is cordoned and its pods are evicted, or the containers of the pod exit",
        )
        .otherwise("Exit on Pod, Crash on all else"),
        field("exitCode", Shape::Int(1, 255), "of Exit")
            .default("1")
            .example("137"),
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
