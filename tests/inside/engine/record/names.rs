//! Unit tests of `sim_engine::record::names`.

use super::*;

#[test]
fn a_text_has_one_id_however_many_came_after_it() {
    let mut names = RecordNames::default();
    let ids: Vec<TextId> = (0..100).map(|i| names.intern(&format!("{}", i % 37))).collect();
    for (i, id) in ids.iter().enumerate() {
        assert_eq!(*id, TextId(i as u32 % 37));
        assert_eq!(names.text(*id), (i % 37).to_string());
    }
    names.clear_texts();
    assert_eq!(names.text(ids[0]), "");
    assert_eq!(names.intern("new"), TextId(0));
}

#[test]
fn a_pod_without_a_job_and_a_job_without_a_jobset_keep_their_own_names() {
    let own = |name: &str, bare| JobName {
        jobset: JobSetId::NONE,
        name: name.to_owned(),
        namespace: "tools".to_owned(),
        standalone_pod: bare,
        ..JobName::default()
    };
    let names = RecordNames { jobs: vec![own("debug", true), own("backup", false)], ..RecordNames::default() };
    assert_eq!(names.pod(JobId(0), 0, PodId(4), 1), "debug");
    assert_eq!(names.pod_base_name(JobId(0), 0), "debug");
    assert_eq!(names.pod_base_name(JobId(1), 2), "backup-2");
    assert!(names.pod(JobId(1), 2, PodId(4), 1).starts_with("backup-2-"));
    assert_eq!(names.namespace_of(JobId(1)), "tools");
    assert_eq!(names.jobset_of(JobId(1)), None);
    assert_eq!(names.jobset_of(JobId(9)), None);
}
