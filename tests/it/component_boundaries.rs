//! Module boundaries of the engine's components: which other components each may name, and the entry points of all.

use crate::support::{files, root};
use std::path::{Path, PathBuf};

/// Component folders of `src/engine`, each with the other components that it may name.
const COMPONENTS: [(&str, &[&str]); 15] = [
    // No cluster component reads the accounting.
    ("accounting", &[]),
    ("usage_aging", &[]),
    ("garbage_collector", &[]),
    // The API server calls the pod webhook when a pod is created.
    ("job_controller", &["webhook"]),
    ("jobset_manager", &[]),
    ("kubelet", &[]),
    ("node_lifecycle", &[]),
    ("pod_gc", &[]),
    ("scheduler", &[]),
    // Training queries the accounting for ready pods, and books the value of a segment of steps there.
    ("training", &["accounting"]),
    ("ttl_controller", &[]),
    // The script acts on machines and processes, which have no API.
    ("script", &["kubelet"]),
    ("webhook", &[]),
    ("kueue", &[]),
    ("slice_controller", &[]),
];

fn rust_files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut folders = vec![folder.to_owned()];
    let mut result = Vec::new();
    while let Some(folder) = folders.pop() {
        for file in files(&folder, "rs") {
            let text = std::fs::read_to_string(&file).expect("a source file can be read");
            let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
            result.push((file, ungrouped(&code.join("\n"))));
        }
        let entries = std::fs::read_dir(&folder).into_iter().flatten();
        let paths = entries.filter_map(|e| Some(e.ok()?.path()));
        folders.extend(paths.filter(|p| p.is_dir()));
    }
    result
}

/// Appends the paths of imports in groups, each with its prefix: `use crate::{a, b::C};` names `crate::a::` too.
fn ungrouped(code: &str) -> String {
    let groups = code.split("use crate::{").skip(1).filter_map(|rest| rest.split("};").next());
    let paths = groups.flat_map(|group| group.split(',')).map(|path| format!("\ncrate::{}::", path.trim()));
    format!("{code}{}", paths.collect::<String>())
}

#[test]
fn imports_in_groups_count_as_names() {
    assert!(ungrouped("use crate::{ctx::Context, kubelet};").contains("crate::kubelet::"));
}

#[test]
fn components_name_no_other_component() {
    let engine = root().join("src/engine");
    for (component, may) in COMPONENTS {
        let folder = engine.join(component);
        assert!(folder.join("mod.rs").exists(), "{component} has no folder");
        for (file, code) in rust_files(&folder) {
            for (other, _) in COMPONENTS {
                let reached = [
                    format!("crate::{other}::"),
                    format!("super::{other}::"),
                    format!("super::super::{other}"),
                    format!("components.{other}"),
                ];
                let names = reached.iter().any(|name| code.contains(name.as_str()));
                let own = other == component || may.contains(&other);
                // A component may contain a file with the name of another component.
                let own_file = folder.join(format!("{other}.rs")).exists();
                assert!(own || own_file || !names, "{} refers to the component {other}", file.display());
            }
        }
    }
}

#[test]
fn only_the_api_server_writes_to_the_store() {
    let engine = root().join("src/engine");
    for (file, code) in rust_files(&engine) {
        let inside = file.starts_with(engine.join("apiserver"));
        assert!(inside || !code.contains("store.get_mut()"), "{} writes to the store", file.display());
    }
}

#[test]
fn every_component_has_one_entry_for_events_and_one_for_changes() {
    for (component, _) in COMPONENTS {
        let files = rust_files(&root().join("src/engine").join(component));
        let entries = |name: &str| files.iter().filter(|(_, code)| code.contains(name)).count();
        // Accounting and the webhook have no events of their own, and the script has no watches.
        let handles = !["accounting", "webhook"].contains(&component);
        let watches = component != "script";
        let result = (entries("pub fn handle("), entries("pub fn watch("));
        assert_eq!(result, (handles.into(), watches.into()), "{component}");
    }
}
