//! Tests of `sim_recordings::validate::decisions::mask`.

use sim_base::{JobId, JobSetId, PodId};
use sim_engine::record::RecordNames;
use sim_engine::record::names::JobName;
use sim_recordings::validate::decisions::mask::*;
use sim_recordings::validate::recording::RecordingKind;

#[test]
fn only_suffixes_of_pods_are_masked() {
    let job = |name: &str| JobName {
        jobset: JobSetId(0),
        name: name.to_owned(),
        replicated_job: "w".to_owned(),
        ..JobName::default()
    };
    let names = RecordNames::for_jobs(vec![job("js-w-0"), job("js-bcdfg-1")]);
    let mask = VolatileMask::new(&names, RecordingKind::Decisions);
    let pod = names.pod(JobId(0), 3, PodId(7), 1);
    for (text, expected) in [
        (format!("Pod ns/{pod} has condition"), "Pod ns/js-w-0-3-<rand> has condition"),
        ("Created pod: js-w-0-bcdfg".into(), "Created pod: js-w-0-<rand>"),
        ("first failed job: js-bcdfg-1".into(), "first failed job: js-bcdfg-1"),
        ("other-0-1-bcdfg".into(), "other-0-1-bcdfg"),
        ("js-w-0-3-<rand>".into(), "js-w-0-3-<rand>"),
    ] {
        assert_eq!(mask.mask_names(&text), expected);
    }
}
