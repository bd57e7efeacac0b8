//! The recordings in the repository are an unchanged part of the complete set, and the omitted ones are listed.

use crate::support::{ALL_RECORDINGS, RECORDING_KINDS, RECORDINGS, files, omitted_recordings, print_to_stderr, root};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Returns `kind/name.json` of every recording below a folder that has one subfolder per kind.
fn names(folder: &Path) -> BTreeSet<String> {
    let mut result = BTreeSet::new();
    for kind in RECORDING_KINDS {
        for path in files(&folder.join(kind), "json") {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            result.insert(format!("{kind}/{name}"));
        }
    }
    result
}

#[test]
fn every_kind_of_recording_is_in_the_repository() {
    let here = names(&root().join(RECORDINGS));
    for kind in RECORDING_KINDS {
        let least = match kind {
            "admission" => 3,
            "corner" => 29,
            "decisions" => 30,
            "kueue" => 6,
            "kueue/live" => 6,
            "nodes" => 16,
            "cluster" => 9,
            "scheduler/gang" => 9,
            "scheduler/single" => 14,
            "times" => 8,
            _ => panic!("{kind}: state how many recordings the repository has"),
        };
        let of_kind =
            here.iter().filter(|name| name.rsplit_once('/').is_some_and(|(folder, _)| folder == kind)).count();
        assert!(of_kind >= least, "{kind}: {of_kind}");
    }
    let left_out = omitted_recordings();
    assert!(left_out.iter().all(|name| !here.contains(*name)));
}

#[test]
fn the_recordings_in_the_repository_and_the_list_of_others_are_those_handed_out() {
    let (all, part) = (root().join(ALL_RECORDINGS), root().join(RECORDINGS));
    if !all.is_dir() {
        print_to_stderr(
            "NOT TESTED: the complete set of recordings is missing, so the recordings in the repository were not compared with it",
        );
        return;
    }
    let here = names(&part);
    let files = omitted_recordings().into_iter().filter(|name| name.ends_with(".json"));
    let mut listed: BTreeSet<String> = files.map(str::to_owned).collect();
    listed.extend(here.iter().cloned());
    assert_eq!(listed, names(&all));
    for name in here {
        let read = |folder: &Path| {
            let text = std::fs::read_to_string(folder.join(&name)).expect("the recording can be read");
            serde_json::from_str::<Value>(&text).expect("the recording is JSON")
        };
        assert!(read(&part) == without_omitted_cases(&name, read(&all)), "{name} was changed");
    }
}

/// Removes the cases that `left-out.txt` lists as `file.json id` from a recording.
fn without_omitted_cases(name: &str, mut recording: Value) -> Value {
    if let Some(cases) = recording.as_array_mut() {
        let left_out = omitted_recordings();
        cases.retain(|case| {
            let id = case["id"].as_str().unwrap_or("");
            !left_out.contains(&format!("{name} {id}").as_str())
        });
    }
    recording
}
