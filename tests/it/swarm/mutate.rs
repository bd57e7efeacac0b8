//! Mutates users' files: parts are removed, repeated, or exchanged with parts of other files, and numbers are set to
//! extreme values.
//!
//! Must never know the meaning of a field, only its name and the values that it has in other files.

use super::draw::Draw;
use super::generate::{self, Case};
use crate::support::{files, root};
use serde_json::{Map, Value, json};
use sim_inputs::SourceText;
use std::collections::BTreeMap;
use std::path::Path;

/// Values and fields of all files, by field name.
pub struct Pool {
    /// Scenarios of the repository with their manifests.
    cases: Vec<Vec<(String, Value)>>,
    texts: Vec<String>,
    values: BTreeMap<String, Vec<Value>>,
    /// Fields of the objects below a field name.
    fields: BTreeMap<String, Vec<(String, Value)>>,
}

/// Strings with a special meaning in YAML, JSON, terminals or elsewhere.
const TOKENS: [&str; 36] = [
    ":", ": ", "- ", "[", "]", "{", "}", ",", "&a ", "*a", "!!str ", "!!binary ", "? ", "|\n", ">-\n", "\"", "'", "#",
    "\t", "\r", "\0", "\n", "---\n", "...\n", "%YAML 1.2\n", "<<: *a", "0x", "1e999", ".nan", "~", "\u{feff}",
    "\u{85}", "\u{2028}", "\u{202e}", "\u{10ffff}", "\\u0000",
];

/// Number of drawn cases whose parts are added to the pool.
const LENDERS: u64 = 60;

impl Pool {
    pub fn new() -> Pool {
        let mut pool = Pool { cases: Vec::new(), texts: Vec::new(), values: BTreeMap::new(), fields: BTreeMap::new() };
        for folder in ["scenarios", "scenarios/upstream"] {
            for file in files(&root().join(folder), "yaml") {
                pool.cases.extend(case_of(&file));
            }
        }
        assert!(pool.cases.len() > 50, "the scenarios of the repository must be readable");
        for folder in ["scenarios", "scenarios/manifests", "topologies", "tests/it/bad"] {
            let paths = files(&root().join(folder), "yaml").into_iter();
            let texts = paths.filter_map(|file| std::fs::read_to_string(file).ok());
            pool.texts.extend(texts.filter(|text| text.len() < 20_000));
        }
        let lent = (0..LENDERS).flat_map(|seed| generate::draw_case(seed).files);
        let lent: Vec<Value> = lent.map(|(_, tree)| tree).collect();
        let own: Vec<Value> = pool.cases.iter().flatten().map(|f| f.1.clone()).collect();
        for tree in lent.iter().chain(&own) {
            pool.add_parts("", tree);
        }
        pool
    }

    fn add_parts(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(entries) => {
                for (key, value) in entries {
                    let known = self.fields.entry(name.to_owned()).or_default();
                    known.push((key.clone(), value.clone()));
                    let known = self.values.entry(key.clone()).or_default();
                    known.push(value.clone());
                    self.add_parts(key, value);
                }
            }
            Value::Array(items) => {
                let item = format!("{name}[]");
                for value in items {
                    let known = self.values.entry(item.clone()).or_default();
                    known.push(value.clone());
                    self.add_parts(&item, value);
                }
            }
            _ => {}
        }
    }

    /// Returns the case of a seed: a user's files after a few changes.
    pub fn case(&self, seed: u64) -> Case {
        let d = &mut Draw::new(seed ^ 0x6d75_7461_7465);
        let mut case =
            if d.one_in(2) { generate::draw_case(seed) } else { Case::from_files(seed, d.pick(&self.cases)) };
        // Most files are still accepted after one change.
        for _ in 0..d.pick(&[1, 1, 1, 2, 3, 6]) {
            // Most changes affect the scenario.
            let all = case.files.len() as u32;
            let file = if d.one_in(2) { 0 } else { d.below(all) };
            let tree = &mut case.files[file as usize].1;
            let mut at = d.below(size(tree));
            self.change(d, "", tree, &mut at);
        }
        case
    }

    /// Returns the text of a file with the kind of damage that an editor may cause.
    pub fn text(&self, seed: u64) -> String {
        let d = &mut Draw::new(seed ^ 0x7465_7874);
        let mut text: Vec<char> = d.pick(&self.texts).chars().collect();
        for _ in 0..d.between(1, 8) {
            let at = d.below(text.len() as u32 + 1) as usize;
            let end = (at + d.pick(&[1, 2, 20, 200])).min(text.len());
            match d.below(4) {
                0 => drop(text.drain(at..end)),
                1 => {
                    let again: Vec<char> = text[at..end].to_vec();
                    let to = d.below(text.len() as u32 + 1) as usize;
                    text.splice(to..to, again);
                }
                _ => {
                    let token = d.pick(&TOKENS);
                    text.splice(at..at, token.chars());
                }
            }
        }
        text.into_iter().collect()
    }

    /// Changes the part with number `at`. Returns whether the part was found.
    fn change(&self, d: &mut Draw, name: &str, value: &mut Value, at: &mut u32) -> bool {
        if *at == 0 {
            self.exchange(d, name, value);
            return true;
        }
        *at -= 1;
        match value {
            Value::Object(entries) => {
                for key in entries.keys().cloned().collect::<Vec<_>>() {
                    if *at == 0 && d.one_in(5) {
                        entries.remove(&key);
                        return true;
                    }
                    if self.change(d, &key, &mut entries[&key], at) {
                        return true;
                    }
                }
            }
            Value::Array(items) => {
                let item = format!("{name}[]");
                for i in 0..items.len() {
                    if *at == 0 && d.one_in(2) {
                        change_list(d, i, items);
                        return true;
                    }
                    if self.change(d, &item, &mut items[i], at) {
                        return true;
                    }
                }
            }
            _ => {}
        }
        false
    }

    fn exchange(&self, d: &mut Draw, name: &str, value: &mut Value) {
        let known = self.values.get(name).map_or(&[][..], Vec::as_slice);
        if !known.is_empty() && d.one_in(2) {
            *value = d.pick(known);
            return;
        }
        match value {
            Value::Number(_) => *value = number(d),
            Value::Bool(b) => *b = !*b,
            Value::String(text) => *value = mutate_text(d, text),
            Value::Object(entries) => self.add(d, name, entries),
            Value::Array(items) => {
                let item = format!("{name}[]");
                if let Some(known) = self.values.get(&item) {
                    items.push(d.pick(known));
                }
            }
            Value::Null => {}
        }
    }

    fn add(&self, d: &mut Draw, name: &str, entries: &mut Map<String, Value>) {
        if let Some(known) = self.fields.get(name) {
            let (key, value) = d.pick(known);
            entries.insert(key, value);
        }
    }
}

/// Removes, moves or duplicates the `i`th item.
fn change_list(d: &mut Draw, i: usize, items: &mut Vec<Value>) {
    match d.below(4) {
        0 => drop(items.remove(i)),
        1 => {
            let other = d.below(items.len() as u32) as usize;
            items.swap(i, other);
        }
        _ => {
            let mut again = items[i].clone();
            for clock in ["at", "afterReady"] {
                if again.get(clock).is_some() {
                    let at = d.pick(&[0, 1, 250, 500, 999, 3_000, 60_000]);
                    again[clock] = json!(format!("{at}ms"));
                }
            }
            items.insert(i, again);
        }
    }
}

fn number(d: &mut Draw) -> Value {
    let limits: [i64; 11] = [-1, 0, 1, 2, 3, 100, 65_535, 65_536, 1 << 31, 1 << 32, 1 << 53];
    let ends = [i32::MAX.into(), i32::MIN.into(), u32::MAX.into(), i64::MAX, i64::MIN];
    match d.below(6) {
        0 => json!(d.pick(&[0.5, 1e-9, 1e18, 1e300])),
        1 | 2 => json!(d.pick(&ends)),
        _ => json!(d.pick(&limits)),
    }
}

/// Replaces a duration by another duration, a number in a name by another number, or the text by something else.
fn mutate_text(d: &mut Draw, text: &str) -> Value {
    if text.parse::<sim_base::Duration>().is_ok() {
        let durations = ["0s", "1ns", "1ms", "500ms", "1s", "43s", "10m", "1h", "30d", "99y"];
        return json!(d.pick(&durations));
    }
    if text.parse::<f64>().is_ok() {
        let numbers = ["0", "1", "-1", "2147483648", "4294967296", "1e30", "1n", "64Gi"];
        return json!(d.pick(&numbers));
    }
    let digit = text.find(|c: char| c.is_ascii_digit());
    match digit.filter(|_| d.one_in(2)) {
        Some(at) => json!(format!("{}{}{}", &text[..at], d.below(4), &text[at + 1..])),
        None => json!(d.pick(&["", "a", "b", "*", "\u{202e}x", "0"])),
    }
}

/// Returns the number of parts in a tree.
fn size(value: &Value) -> u32 {
    1 + match value {
        Value::Object(entries) => entries.values().map(size).sum::<u32>(),
        Value::Array(items) => items.iter().map(size).sum(),
        _ => 0,
    }
}

fn document(file: &Path) -> Option<Value> {
    let source = sim_inputs::read_source(file).ok()?;
    sim_inputs::documents(&source).ok()?.into_iter().next()
}

/// Returns a scenario with the files that it names, and with its topology inlined.
fn case_of(file: &Path) -> Option<Vec<(String, Value)>> {
    let folder = file.parent()?;
    let mut scenario = document(file)?;
    if let Some(topology) = scenario["topology"].as_str() {
        scenario["topology"] = document(&folder.join(topology))?;
    }
    let mut result = vec![("scenario.yaml".to_owned(), Value::Null)];
    let lists = ["jobSets", "objects"].map(|key| scenario[key].as_array().cloned());
    for entry in lists.into_iter().flatten().flatten() {
        let Some(name) = entry["manifest"].as_str() else {
            continue;
        };
        let source = SourceText { file: name.to_owned(), text: std::fs::read_to_string(folder.join(name)).ok()? };
        let documents = sim_inputs::documents(&source).ok()?;
        let list = json!({"apiVersion": "v1", "kind": "List", "items": documents});
        if result.iter().all(|(known, _)| known != name) {
            result.push((name.to_owned(), list));
        }
    }
    result[0].1 = scenario;
    Some(result)
}
