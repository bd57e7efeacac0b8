//! Tests of `sim_report::files::events`.

use sim_base::*;
use sim_engine::record::*;
use sim_report::files::events::*;
use sim_testkit::records;
use std::io;
use std::io::Write;
#[test]
fn every_line_is_json_with_the_seven_keys_and_the_last_has_the_digest() {
    let mut names = records::names();
    let quoted = names.intern("DefaultFailurePolicy \"quoted\"");
    let mut writer = EventWriter::new(Vec::new());
    for mut r in records::records(&records::recreate()) {
        if let Body::JobSetCondition { status: true, reason, .. } = &mut r.body {
            *reason = quoted;
        }
        writer.record(&r, &names);
    }
    let text = String::from_utf8(writer.finish("00ff").unwrap()).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    for line in &lines {
        for key in ["seq", "t_ns", "cause", "kind", "object", "reason", "message"] {
            assert!(line.get(key).is_some(), "{key} is not in {line}");
        }
    }
    assert_eq!(lines.last().unwrap()["digest"], "00ff");
    assert_eq!(lines[0]["object"], "jobset/default/train");
    assert_eq!(lines[0]["cause"], serde_json::Value::Null);
    let exited = lines.iter().find(|l| l["kind"] == "ContainerExited").unwrap();
    assert_eq!(exited["exitCode"], 1);
    assert!(exited["object"].as_str().unwrap().starts_with("pod/default/train-workers-0-1-"));
    let condition = lines.iter().find(|l| l["kind"] == "JobSetCondition").unwrap();
    assert_eq!(condition["reason"], "DefaultFailurePolicy \"quoted\"");
}

#[test]
fn names_that_appear_during_the_run_are_written_and_a_pod_id_may_be_used_again() {
    let own = |name: &str, bare| JobName {
        jobset: JobSetId::NONE,
        name: name.to_owned(),
        namespace: "tools".to_owned(),
        standalone_pod: bare,
        ..JobName::default()
    };
    let created = |seq, incarnation, job| SimulationRecord {
        seq,
        cause: NO_CAUSE,
        ticket: NO_TICKET,
        at: SimTime::ZERO,
        body: Body::PodCreated { pod: PodId(0), incarnation, job, index: 0, attempt: 0 },
    };
    let mut names = records::names();
    let mut writer = EventWriter::new(Vec::new());
    writer.record(&created(0, 1, JobId(0)), &names);
    names.jobs.push(own("backup", false));
    writer.record(&created(1, 2, JobId(1)), &names);
    names.jobs.push(own("debug", true));
    names.nodes.push("late".to_owned());
    writer.record(&created(2, 3, JobId(2)), &names);
    let bound = Body::PodBound { pod: PodId(0), incarnation: 3, node: NodeId(2) };
    let bound = SimulationRecord { body: bound, ..created(3, 3, JobId(2)) };
    writer.record(&bound, &names);
    let text = String::from_utf8(writer.finish("").unwrap()).unwrap();
    let displayed =
        ["pod/default/train-workers-0-0-", "pod/tools/backup-0-", "pod/tools/debug\"", "\"node\":\"node/late\""];
    for (line, displayed) in text.lines().zip(displayed) {
        assert!(line.contains(displayed), "{displayed} is not in {line}");
    }
}

struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("no space left on device"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported_at_the_end() {
    let writer = EventWriter::new(Full);
    assert!(writer.finish("00").is_err());
}
