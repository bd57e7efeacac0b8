//! The evaluation of an in-place restart step: the rule and the values it is based on.

use super::block::DecisionBlock;
use sim_policy::decision::InPlaceTrace;

pub fn add_in_place_restart(block: &mut DecisionBlock, t: &InPlaceTrace) {
    let expected = t.expected.map_or("?".to_owned(), |n| n.to_string());
    let range = match (t.smallest, t.largest) {
        (Some(a), Some(b)) if a == b => format!(", all at {a}"),
        (Some(a), Some(b)) => format!(", from {a} to {b}"),
        _ => String::new(),
    };
    let text = format!("{} of {expected} pods have an attempt annotation{range}", t.attempts);
    block.add_line("attempts", text, "IPR-3");
    let largest = t.largest.unwrap_or(0);
    let (text, rule) = match t.row {
        1 => (
            format!(
                "a container was restarted {} times, more than maxRestarts {}: the JobSet fails",
                t.max_container_restarts, t.max_restarts
            ),
            "IPR-2",
        ),
        2 => ("an attempt annotation is not a number: error".to_owned(), "IPR-3"),
        3 => (
            format!(
                "attempt {largest} − {} uncounted restarts exceeds maxRestarts {}: the JobSet fails",
                t.uncounted, t.max_restarts
            ),
            "IPR-4",
        ),
        4 => ("completions and parallelism differ: error".to_owned(), "IPR-5"),
        5 => (format!("all pods are at attempt {largest}: their barriers open"), "IPR-7"),
        6 => ("first start: waiting for the attempt annotations of all pods".to_owned(), "IPR-6"),
        _ => (
            format!("not all at {largest} yet: those at {} and below restart in place", i64::from(largest) - 1),
            "IPR-9",
        ),
    };
    block.add_line("in place", format!("row {}: {text}", t.row), rule);
}
