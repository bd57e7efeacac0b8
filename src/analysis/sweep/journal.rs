//! The journal of a sweep: an append-only file of finished replications, which survives the end of its process at
//! any time.
//!
//! Each line begins with a checksum of the rest and ends with a line break; otherwise it is invalid. Invalid lines
//! at the end of the file are incomplete writes and are removed before the next line is appended. An invalid line
//! before a valid one is damage, and the journal is rejected.
//!
//! ```text
//! checksum  sweep   1  experiment  shard      the first line
//! checksum  names   0  ["goodput", …]         names of metrics, shared by all rows that have the same names
//! checksum  texts   0  ["in 1 of …"]          warnings, shared in the same way
//! checksum  row     point  replication  end reason  digest  names  warnings  never placed  value  value  …
//! ```

use super::journal_error::SweepJournalError;
use super::row::SweepRow;
use super::shard::SweepShard;
use crate::experiment::{MeasuredMetric, ReplicationOutcome};
use sim_base::fnv::fnv1a;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

const FORMAT: &str = "2";

/// First line of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalHead {
    /// Digest of the identity of the sweep.
    pub experiment: String,
    pub shard: SweepShard,
}

/// A journal that is open for writing and locked against other processes.
pub struct SweepJournal {
    file: File,
    names: JournalTable,
    texts: JournalTable,
    synced: bool,
}

/// Lists that rows share, with their ids.
#[derive(Default)]
struct JournalTable {
    ids: BTreeMap<Arc<Vec<String>>, usize>,
    all: Vec<Arc<Vec<String>>>,
}

impl JournalTable {
    fn id(&mut self, list: &Arc<Vec<String>>) -> (usize, bool) {
        if let Some(id) = self.ids.get(list) {
            return (*id, false);
        }
        self.ids.insert(list.clone(), self.all.len());
        self.all.push(list.clone());
        (self.all.len() - 1, true)
    }

    fn get(&self, id: &str) -> Option<Arc<Vec<String>>> {
        self.all.get(id.parse::<usize>().ok()?).cloned()
    }
}

impl SweepJournal {
    /// Creates a journal; the file must not exist.
    pub fn create(path: &Path, head: &JournalHead) -> Result<SweepJournal, SweepJournalError> {
        let failed = |e: io::Error| SweepJournalError::NotCreated { path: path.to_owned(), reason: e.to_string() };
        let new = OpenOptions::new().read(true).append(true).create_new(true).open(path);
        let mut journal = SweepJournal::open_locked(new.map_err(failed)?, path)?;
        let line = format!("sweep\t{FORMAT}\t{}\t{}", head.experiment, head.shard);
        journal.write(&checked(&line))?;
        journal.sync()?;
        Ok(journal)
    }

    /// Opens an existing journal and returns its rows in the order of completion.
    pub fn open(path: &Path, head: &JournalHead) -> Result<(SweepJournal, Vec<SweepRow>), SweepJournalError> {
        let failed = |e: io::Error| SweepJournalError::NotOpened { path: path.to_owned(), reason: e.to_string() };
        let file = OpenOptions::new().read(true).append(true).open(path).map_err(failed)?;
        let mut journal = SweepJournal::open_locked(file, path)?;
        let mut bytes = Vec::new();
        journal.file.read_to_end(&mut bytes).map_err(failed)?;
        let read = JournalContent::parse(&bytes, path)?;
        if read.head.as_ref().is_some_and(|result| result != head) {
            return Err(SweepJournalError::OtherSweep { path: path.to_owned() });
        }
        journal.file.set_len(read.good as u64).map_err(failed)?;
        journal.file.seek(SeekFrom::End(0)).map_err(failed)?;
        if read.head.is_none() {
            let line = format!("sweep\t{FORMAT}\t{}\t{}", head.experiment, head.shard);
            journal.write(&checked(&line))?;
        }
        (journal.names, journal.texts) = (read.names, read.texts);
        Ok((journal, read.rows))
    }

    /// Locks the file until it is closed or the process ends. File systems without locks provide no protection.
    fn open_locked(file: File, path: &Path) -> Result<SweepJournal, SweepJournalError> {
        if let Err(std::fs::TryLockError::WouldBlock) = file.try_lock() {
            return Err(SweepJournalError::Locked { path: path.to_owned() });
        }
        Ok(SweepJournal { file, names: JournalTable::default(), texts: JournalTable::default(), synced: true })
    }

    /// Appends a row. After the return the row survives the end of the process; after `sync` it survives a crash of
    /// the machine.
    pub fn append(&mut self, row: &SweepRow) -> Result<(), SweepJournalError> {
        let mut lines = String::new();
        let (names, new) = self.names.id(&row.names);
        if new {
            lines.push_str(&checked(&format!("names\t{names}\t{}", json(&*row.names))));
        }
        let (texts, new) = self.texts.id(&Arc::new(row.warnings.clone()));
        if new {
            lines.push_str(&checked(&format!("texts\t{texts}\t{}", json(&row.warnings))));
        }
        lines.push_str(&checked(&written(row, names, texts)));
        self.write(&lines)
    }

    /// Waits until all data is on disk.
    pub fn sync(&mut self) -> Result<(), SweepJournalError> {
        if !self.synced {
            self.file.sync_data().map_err(|e| failed_write(&e))?;
            self.synced = true;
        }
        Ok(())
    }

    fn write(&mut self, lines: &str) -> Result<(), SweepJournalError> {
        self.synced = false;
        self.file.write_all(lines.as_bytes()).map_err(|e| failed_write(&e))
    }
}

fn failed_write(e: &io::Error) -> SweepJournalError {
    SweepJournalError::NotWritten { reason: e.to_string() }
}

/// Reads the rows of a complete journal. Fails if its last line is incomplete.
pub fn read(path: &Path) -> Result<(JournalHead, Vec<SweepRow>), SweepJournalError> {
    let bytes = sim_inputs::files::read_stored(path)
        .map_err(|e| SweepJournalError::Unreadable { path: path.to_owned(), reason: e.to_string() })?;
    let read = JournalContent::parse(&bytes, path)?;
    match read.head {
        Some(head) if read.good == bytes.len() => Ok((head, read.rows)),
        _ => Err(SweepJournalError::IncompleteLine { path: path.to_owned() }),
    }
}

#[derive(Default)]
struct JournalContent {
    head: Option<JournalHead>,
    rows: Vec<SweepRow>,
    names: JournalTable,
    texts: JournalTable,
    /// Number of bytes up to the end of the last valid line.
    good: usize,
}

impl JournalContent {
    /// Reads the contents of a journal; `path` is its file.
    fn parse(bytes: &[u8], path: &Path) -> Result<JournalContent, SweepJournalError> {
        let mut content = JournalContent::default();
        let mut bad: Option<usize> = None;
        for (i, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
            let payload = payload(line);
            match (payload, bad) {
                (Some(_), Some(line)) => {
                    let path = path.to_owned();
                    return Err(SweepJournalError::DamagedLine { path, line });
                }
                (Some(payload), None) => {
                    let taken = content.take(payload);
                    taken.ok_or_else(|| SweepJournalError::InvalidLine { path: path.to_owned(), line: i + 1 })?;
                    content.good += line.len();
                }
                (None, _) => bad = bad.or(Some(i + 1)),
            }
        }
        Ok(content)
    }

    fn take(&mut self, payload: &str) -> Option<()> {
        let (kind, rest) = payload.split_once('\t')?;
        if kind == "row" {
            self.rows.push(self.row(rest)?);
            return Some(());
        }
        let parts: Vec<&str> = rest.split('\t').collect();
        match (kind, parts.as_slice()) {
            ("sweep", [FORMAT, experiment, shard]) if self.head.is_none() => {
                self.head =
                    Some(JournalHead { experiment: (*experiment).to_owned(), shard: SweepShard::parse(shard).ok()? });
            }
            ("names" | "texts", [id, list]) => {
                let list: Vec<String> = serde_json::from_str(list).ok()?;
                let table = match kind {
                    "names" => &mut self.names,
                    _ => &mut self.texts,
                };
                let (known, new) = table.id(&Arc::new(list));
                (new && known.to_string() == *id).then_some(())?;
            }
            _ => return None,
        }
        Some(())
    }

    fn row(&self, rest: &str) -> Option<SweepRow> {
        let mut parts = rest.split('\t');
        let mut next = || parts.next();
        let (point, replication) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let end_reason = next()?.to_owned();
        let outcome = ReplicationOutcome::from_name(next()?)?;
        let digest = u64::from_str_radix(next()?, 16).ok()?;
        let names = self.names.get(next()?)?;
        let warnings = self.texts.get(next()?)?.to_vec();
        let never_placed: Option<String> = serde_json::from_str(next()?).ok()?;
        let values: Vec<MeasuredMetric> = parts.map(measured).collect::<Option<_>>()?;
        (values.len() == names.len()).then_some(SweepRow {
            point,
            replication,
            digest,
            end_reason,
            outcome,
            names,
            values,
            warnings,
            never_placed,
        })
    }
}

fn written(row: &SweepRow, names: usize, texts: usize) -> String {
    let mut line = format!(
        "row\t{}\t{}\t{}\t{}\t{:016x}\t{names}\t{texts}\t{}",
        row.point,
        row.replication,
        row.end_reason,
        row.outcome.as_str(),
        row.digest,
        json(&row.never_placed)
    );
    for value in &row.values {
        line.push('\t');
        match value {
            // Writes the shortest text that is parsed as exactly the same number.
            MeasuredMetric::Value(v) => line.push_str(&format!("{v:?}")),
            MeasuredMetric::Absent => line.push('a'),
            MeasuredMetric::Failed => line.push('f'),
            MeasuredMetric::Blocked => line.push('b'),
            MeasuredMetric::Censored => line.push('c'),
        }
    }
    line
}

fn measured(text: &str) -> Option<MeasuredMetric> {
    Some(match text {
        "a" => MeasuredMetric::Absent,
        "f" => MeasuredMetric::Failed,
        "b" => MeasuredMetric::Blocked,
        "c" => MeasuredMetric::Censored,
        number => MeasuredMetric::Value(number.parse().ok()?),
    })
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("strings and lists of strings can be written as JSON")
}

fn checked(payload: &str) -> String {
    format!("{:08x}\t{payload}\n", checksum(payload.as_bytes()))
}

/// Returns the content of a line if its checksum is valid.
fn payload(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, payload) = line.split_once('\t')?;
    (sum == format!("{:08x}", checksum(payload.as_bytes()))).then_some(payload)
}

/// Returns the FNV-1a hash, folded to 32 bits.
fn checksum(bytes: &[u8]) -> u32 {
    let hash = fnv1a(bytes.iter().copied());
    (hash ^ (hash >> 32)) as u32
}
