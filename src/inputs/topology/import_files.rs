//! Reads the files of an import: JSON in parts and all files at once, other texts one after the other.

use super::dump::{ClusterDump, DumpObject};
use crate::files::{open_dump, read_dump};
use crate::text::diagnostic::Diagnostics;

/// Reads JSON files with Nodes and with Pods, each in a thread of its own, and converts the Nodes before all Pods are
/// read. The dump has no Nodes. Returns `None` if a file is not JSON, has errors or cannot be read a second time: the
/// caller then reads the texts.
pub(super) fn read_json<T>(
    nodes: &str, pods: &[String], convert: impl FnOnce(Vec<DumpObject>) -> T,
) -> Option<(T, ClusterDump)> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = pods.iter().map(|file| scope.spawn(|| ClusterDump::of_json(open_dump(file)?))).collect();
        let mut dump = open_dump(nodes).and_then(ClusterDump::of_json);
        let converted = dump.as_mut().map(|dump| convert(std::mem::take(&mut dump.nodes)));
        for thread in threads {
            let pods = thread.join().ok().flatten();
            dump = dump.zip(pods).map(|(dump, pods)| dump.with_pods_of(pods));
        }
        converted.zip(dump)
    })
}

/// Adds the Pods of files to a dump.
pub(super) fn read_pods(mut dump: ClusterDump, files: &[String]) -> Result<ClusterDump, Diagnostics> {
    for file in files {
        let mut pods = ClusterDump::default();
        pods.read(&read_dump(file)?)?;
        dump = dump.with_pods_of(pods);
    }
    Ok(dump)
}
