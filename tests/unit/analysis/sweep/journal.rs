//! Tests of `sim_analysis::sweep::journal`.

use sim_analysis::experiment::MeasuredMetric;
use sim_analysis::sweep::SweepJournalError;
use sim_analysis::sweep::journal::*;
use sim_analysis::sweep::row::SweepRow;
use sim_analysis::sweep::shard::SweepShard;
use std::sync::Arc;
fn row(point: usize, replication: u64, warning: &str) -> SweepRow {
    SweepRow {
        point,
        replication,
        digest: 0xfeed,
        end_reason: "Completed".to_owned(),
        outcome: sim_analysis::experiment::ReplicationOutcome::Completed,
        names: Arc::new(vec!["goodput".to_owned(), "lost_s.a\tb\"\n".to_owned()]),
        values: vec![MeasuredMetric::Value(0.1 + 0.2), MeasuredMetric::Blocked],
        warnings: vec![warning.to_owned()],
        never_placed: (point == 2).then(|| "a: \u{202e}\t".to_owned()),
    }
}

fn head() -> JournalHead {
    JournalHead { experiment: "0123".to_owned(), shard: SweepShard::new(1, 3).unwrap() }
}

fn scratch(name: &str) -> std::path::PathBuf {
    let name = format!("jobset-sim-journal-{name}-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn a_journal_cut_anywhere_gives_its_whole_rows_and_continues() {
    let path = scratch("cut");
    let rows: Vec<SweepRow> = (0..4).map(|i| row(i, i as u64 * 7, ["x", "y\t"][i % 2])).collect();
    let mut journal = SweepJournal::create(&path, &head()).unwrap();
    rows.iter().for_each(|row| journal.append(row).unwrap());
    let error = SweepJournal::open(&path, &head()).err().unwrap();
    assert_eq!(error, SweepJournalError::Locked { path: path.clone() });
    drop(journal);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(read(&path).unwrap(), (head(), rows.clone()));
    for cut in 0..bytes.len() {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let (mut journal, kept) = SweepJournal::open(&path, &head()).unwrap();
        assert_eq!(kept, rows[..kept.len()], "cut at {cut}");
        rows[kept.len()..].iter().for_each(|row| journal.append(row).unwrap());
        drop(journal);
        assert_eq!(read(&path).unwrap(), (head(), rows.clone()), "cut at {cut}");
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn what_a_crash_of_the_machine_left_at_the_end_is_cut_off_and_damage_before_it_is_reported() {
    let path = scratch("damage");
    let mut journal = SweepJournal::create(&path, &head()).unwrap();
    (0..3).for_each(|i| journal.append(&row(i, 0, "x")).unwrap());
    drop(journal);
    let bytes = std::fs::read(&path).unwrap();
    let mut zeros = bytes.clone();
    zeros.extend([0, 0, b'\n', 0, b'\n']);
    std::fs::write(&path, zeros).unwrap();
    assert_eq!(SweepJournal::open(&path, &head()).unwrap().1.len(), 3);
    let mut damaged = bytes.clone();
    let at = bytes.iter().position(|b| *b == b'\n').unwrap() + 20;
    damaged[at] ^= 1;
    std::fs::write(&path, damaged).unwrap();
    let error = SweepJournal::open(&path, &head()).err().unwrap();
    assert!(error.to_string().contains("line 2 is damaged"), "{error}");
    let other = JournalHead { shard: SweepShard::WHOLE, ..head() };
    std::fs::write(&path, bytes).unwrap();
    let error = SweepJournal::open(&path, &other).err().unwrap();
    assert_eq!(error, SweepJournalError::OtherSweep { path: path.clone() });
    std::fs::remove_file(path).unwrap();
}
