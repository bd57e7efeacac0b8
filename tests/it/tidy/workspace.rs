//! Workspace rules that Cargo does not enforce: import cycles, dependencies of the engine, reasons for dependencies.

use crate::support::{files, root};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const CYCLE_FILES_MAX: usize = 5;
const CYCLES_MAX: usize = 15;

/// Returns a folder and all folders below it.
fn folders(top: &Path) -> Vec<PathBuf> {
    let mut all = vec![top.to_owned()];
    let mut next = 0;
    while next < all.len() {
        let entries = std::fs::read_dir(&all[next]).into_iter().flatten();
        all.extend(entries.filter_map(|e| Some(e.ok()?.path()).filter(|p| p.is_dir())));
        next += 1;
    }
    all.sort();
    all
}

fn crate_folders() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("src")).expect("src can be listed");
    let mut all: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    all.sort();
    all
}

/// Returns the modules of a crate by path, with their code.
fn modules(folder: &Path) -> BTreeMap<Vec<String>, String> {
    let mut modules = BTreeMap::new();
    for inner in folders(folder) {
        for file in files(&inner, "rs") {
            let relative = file.strip_prefix(folder).expect("inside").with_extension("");
            let mut path: Vec<String> = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if ["mod", "lib"].contains(&path.last().map_or("", String::as_str)) {
                path.pop();
            }
            let text = std::fs::read_to_string(&file).expect("a source file can be read");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
            let lines = code.lines().map(|line| line.split("//").next().unwrap_or(""));
            modules.insert(path, lines.collect::<Vec<_>>().join("\n"));
        }
    }
    modules
}

/// Returns the paths that a `use` tree names: groups are expanded, aliases are dropped.
fn expand(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        return vec![tree.split(" as ").next().unwrap_or("").trim().to_owned()];
    };
    let (before, group) = (&tree[..open], &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())]);
    let (mut depth, mut start, mut paths) = (0, 0, Vec::new());
    for (at, c) in group.char_indices().chain([(group.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let inner = expand(&group[start..at]);
                paths.extend(inner.iter().map(|path| format!("{before}{path}")));
                start = at + 1;
            }
            _ => {}
        }
    }
    paths
}

/// Returns the module that a path in `module` refers to, or `None` outside of the crate.
fn target(path: &str, module: &[String], modules: &BTreeMap<Vec<String>, String>) -> Option<Vec<String>> {
    let mut parts = path.split("::").map(str::trim).peekable();
    let mut full = match parts.next()? {
        "crate" => Vec::new(),
        "self" => module.to_vec(),
        "super" => {
            let mut parent = module.to_vec();
            parent.pop()?;
            while parts.next_if_eq(&"super").is_some() {
                parent.pop()?;
            }
            parent
        }
        _ => return None,
    };
    full.extend(parts.filter(|p| !["self", "*"].contains(p)).map(str::to_owned));
    while !modules.contains_key(&full) {
        full.pop()?;
    }
    Some(full)
}

/// Returns the import cycles between the files of a crate.
fn cycles(folder: &Path) -> Vec<Vec<String>> {
    let modules = modules(folder);
    let imports = Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?use ([^;]+);").expect("a pattern");
    let inline = Regex::new(r"\b(?:crate|super(?:::super)*)(?:::[a-z_]\w*)+").expect("a pattern");
    let mut graph = DiGraph::<&[String], ()>::new();
    let nodes: BTreeMap<&[String], NodeIndex> = modules.keys().map(|m| (m.as_slice(), graph.add_node(m))).collect();
    for (module, code) in &modules {
        let trees = imports.captures_iter(code).flat_map(|c| expand(&c[1]));
        let paths = trees.chain(inline.find_iter(code).map(|m| m.as_str().to_owned()));
        let used: BTreeSet<Vec<String>> = paths.filter_map(|path| target(&path, module, &modules)).collect();
        for other in used.iter().filter(|other| *other != module && !other.is_empty()) {
            graph.add_edge(nodes[module.as_slice()], nodes[other.as_slice()], ());
        }
    }
    let circles = tarjan_scc(&graph).into_iter().filter(|c| c.len() > 1);
    circles.map(|c| c.into_iter().map(|n| graph[n].join("::")).collect()).collect()
}

#[test]
fn import_cycles_in_a_crate_are_limited() {
    let all: Vec<Vec<String>> = crate_folders().iter().flat_map(|c| cycles(c)).collect();
    let large: Vec<&Vec<String>> = all.iter().filter(|c| c.len() > CYCLE_FILES_MAX).collect();
    assert!(large.is_empty(), "{large:#?}");
    assert!(all.len() <= CYCLES_MAX, "{all:#?}");
}

#[test]
fn paths_in_groups_are_found() {
    let expected = ["crate::a", "crate::b::c", "crate::b::d::self"];
    assert_eq!(expand("crate::{a, b::{c as e, d::{self}}}"), expected);
}

/// Returns the dependencies of the shipped crate that a Cargo.toml lists.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]") && !line.contains("dev-");
        } else if inside && let Some((name, _)) = line.split_once(['.', '=']) {
            names.insert(name.trim().to_owned());
        }
    }
    names
}

#[test]
fn the_engine_links_neither_the_command_line_nor_charts_nor_yaml() {
    let mut next = vec!["engine".to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(name) = next.pop() {
        let path = root().join("src").join(&name).join("Cargo.toml");
        let manifest = std::fs::read_to_string(path).expect("a manifest");
        for dependency in dependencies(&manifest) {
            for forbidden in ["clap", "plotters", "serde_yaml"] {
                assert_ne!(dependency, forbidden, "sim-{name}");
            }
            let own = dependency.strip_prefix("sim-").map(str::to_owned);
            next.extend(own.filter(|own| seen.insert(own.clone())));
        }
    }
    assert!(seen.contains("base") && seen.contains("policy"), "{seen:?}");
}

#[test]
fn every_dependency_has_a_reason() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let table = manifest.split("[workspace.dependencies]").nth(1);
    let table = table.and_then(|t| t.split("\n[").next()).expect("a table");
    let mut before = "";
    for line in table.lines().filter(|line| !line.is_empty()) {
        let own = line.starts_with("sim-") || line.starts_with('#');
        assert!(own || before.starts_with('#'), "a comment with the reason must precede the dependency: {line}");
        before = line;
    }
}
