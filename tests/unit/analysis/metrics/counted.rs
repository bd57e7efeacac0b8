//! Tests of `sim_analysis::metrics::counted`.

use sim_analysis::metrics::occurrence_counts::*;
use sim_base::*;
use sim_engine::record::{Body, NO_CAUSE, NO_TICKET, RecordNames, RecordSink, SimulationRecord};
/// FP-11 counts a restart and FP-12 does not; the limit applies to the sum over Jobs (FP-7).
#[test]
fn restarts_of_single_jobs_use_up_what_counts_of_them() {
    let mut fold = CountedFold::default();
    let names = RecordNames::default();
    let all = [(0, 1, 1), (1, 1, 0), (0, 2, 1), (1, 2, 1), (0, 3, 3)];
    for (seq, (job, restarts, counted)) in (0..).zip(all) {
        let body = Body::JobRestartCounted { jobset: JobSetId(0), job: JobId(job), restarts, counted };
        let at = SimTime(u64::from(seq));
        fold.record(&SimulationRecord { seq, at, cause: NO_CAUSE, ticket: NO_TICKET, body }, &names);
    }
    let text: Vec<(u64, u32)> = fold.finish().iter().map(|u| (u.at.0, u.times)).collect();
    assert_eq!(text, [(0, 1), (3, 1), (4, 2)]);
}
