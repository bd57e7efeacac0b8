//! Golden transcript of replications of the reduced model, one line per restart: `golden/reduced.txt`.
//! `UPDATE_GOLDEN=1` writes it, and it is equal in every profile.

use super::{reduced_experiment, slices_with_spares};
use crate::support;
use std::fmt::Write;

#[test]
fn reduced_replications_have_a_golden_transcript_in_every_profile() {
    let scenario = slices_with_spares("5m", 1);
    let model = reduced_experiment(&scenario);
    let mut player = model.player().with_bound();
    let mut now = String::from("# Each restart: its cause, when it began, and when every pod was there again.\n");
    for replication in 0..3 {
        let outcome = player.run(7, replication);
        let _ = writeln!(
            now,
            "\nreplication {replication}: {:?} at {}, restarts {}, that count {}, close {}, digest {:016x}",
            outcome.end_reason,
            outcome.end,
            outcome.restarts,
            outcome.restarts_count_towards_max,
            outcome.boundary_cases,
            model.digest(&outcome)
        );
        for recovery in &outcome.recoveries {
            let cause = &scenario.fault_processes[recovery.process as usize].cause;
            let _ = writeln!(now, "{cause:<12} {:>18} {:>18}", recovery.start, recovery.end);
        }
    }
    let path = support::root().join("tests/it/golden/reduced.txt");
    if support::updates_golden_files() {
        std::fs::write(&path, &now).expect("the transcript can be written");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some(difference) = support::first_difference("golden/reduced.txt", &golden, &now) {
        panic!("{difference}");
    }
}
