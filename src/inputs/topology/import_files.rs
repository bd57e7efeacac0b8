//! Reads the files of an import: JSON in parts and all files at once, other texts one after the other.

use super::dump::{ClusterDump, DumpObject};
use crate::files::{open_dump, read_dump};
use crate::text::diagnostic::Diagnostics;
use std::io::{self, Read, Seek, SeekFrom};
use std::thread::{self, ScopedJoinHandle};

/// Size in bytes from which a file is read by two threads; a smaller one takes less than 0.1 s.
const HALVED_FROM: u64 = 1 << 25;
/// Bytes at the middle of a file that are searched for the end of an object. A Node or a Pod is smaller.
const SEARCHED: usize = 1 << 18;
/// The end of an object of a list and the beginning of the next one, as kubectl indents them.
const BETWEEN_OBJECTS: &[u8] = b"\n        },\n        {";

/// Reads JSON files with Nodes and with Pods, each in a thread of its own, and converts the Nodes before all Pods are
/// read. The dump has no Nodes. Returns `None` if a file is not JSON, has errors or cannot be read a second time: the
/// caller then reads the texts.
pub(super) fn read_json<T>(
    nodes: &str, pods: &[String], convert: impl FnOnce(Vec<DumpObject>) -> T,
) -> Option<(T, ClusterDump)> {
    thread::scope(|scope| {
        let start = |file| thread::Builder::new().spawn_scoped(scope, move || read_file(file));
        let threads: Vec<_> = pods.iter().map(|file| (file, start(file))).collect();
        let mut dump = read_file(nodes);
        let converted = dump.as_mut().map(|dump| convert(std::mem::take(&mut dump.nodes)));
        for (file, thread) in threads {
            let pods = join_or_run(thread, || read_file(file));
            dump = dump.zip(pods).map(|(dump, pods)| dump.with_pods_of(pods));
        }
        converted.zip(dump)
    })
}

/// Returns the result of a thread, or that of `read` if no thread could be started, as in WebAssembly.
fn join_or_run<T>(thread: io::Result<ScopedJoinHandle<'_, Option<T>>>, read: impl FnOnce() -> Option<T>) -> Option<T> {
    match thread {
        Ok(thread) => thread.join().ok().flatten(),
        Err(_) => read(),
    }
}

fn read_file(path: &str) -> Option<ClusterDump> {
    read_halves(path).or_else(|| ClusterDump::of_json(open_dump(path)?))
}

/// Reads a large list in two threads. Returns `None` if it is not indented like the output of kubectl.
///
/// The first half is completed to a list, and the second one begins with the start of a list. If the file is not cut
/// between two objects of its list, the brackets of the first half do not match, and it cannot be read.
fn read_halves(path: &str) -> Option<ClusterDump> {
    let mut file = open_dump(path)?;
    let length = file.metadata().ok()?.len();
    let middle = (length >= HALVED_FROM).then_some(length / 2)?;
    file.seek(SeekFrom::Start(middle)).ok()?;
    let mut searched = Vec::new();
    file.take(SEARCHED as u64).read_to_end(&mut searched).ok()?;
    let found = searched.windows(BETWEEN_OBJECTS.len()).position(|bytes| bytes == BETWEEN_OBJECTS)?;
    let comma = BETWEEN_OBJECTS.iter().position(|byte| *byte == b',')?;
    let end = middle + (found + comma) as u64;
    let read_second = || {
        let mut file = open_dump(path)?;
        file.seek(SeekFrom::Start(end + 1)).ok()?;
        ClusterDump::of_json(b"{\"kind\":\"List\",\"items\":[".as_slice().chain(file))
    };
    thread::scope(|scope| {
        let second = thread::Builder::new().spawn_scoped(scope, read_second);
        let first = ClusterDump::of_json(open_dump(path)?.take(end).chain(b"],\"kind\":\"List\"}".as_slice()));
        let (first, second) = first.zip(join_or_run(second, read_second))?;
        //  The objects of a typed list have no kind, which only one half knows.
        (first.untyped() + second.untyped() == 0).then(|| first.with(second))
    })
}

/// Adds the Pods of files to a dump.
pub(super) fn read_pods(mut dump: ClusterDump, files: &[String]) -> Result<ClusterDump, Diagnostics> {
    for file in files {
        dump = dump.with_pods_of(ClusterDump::of_text(&read_dump(file)?)?);
    }
    Ok(dump)
}
