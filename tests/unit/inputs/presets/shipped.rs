//! Tests of `sim_inputs::presets::shipped`.

use sim_inputs::presets::shipped::*;
use std::path::Path;
#[test]
fn every_topology_of_the_folder_is_shipped_under_its_own_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("topologies");
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut files: Vec<String> =
        entries.map(|e| e.path().file_stem().unwrap().to_string_lossy().into_owned()).collect();
    files.sort();
    assert_eq!(files, topology_names());
    for name in topology_names() {
        let source = shipped_topology(name).unwrap();
        let read = sim_inputs::read_topology(&source).unwrap();
        assert_eq!(read.name, name);
    }
}
