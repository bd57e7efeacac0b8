//! Reduces a failing case: parts of its files are removed as long as it fails in the same way.

use super::generate::Case;
use serde_json::Value;

/// Returns the kind of a problem, independent of the numbers in it.
fn problem_kind(problem: &str) -> String {
    let words = problem.split(|c: char| !c.is_ascii_alphabetic());
    words.filter(|w| w.len() > 3).take(8).collect::<Vec<_>>().join(" ")
}

/// Returns the smallest case found that still fails with this kind of problem; `run` runs a case.
pub fn shrink(case: &Case, problem: &str, run: impl Fn(&Case) -> Option<String>) -> Case {
    let wanted = problem_kind(problem);
    let fails = |case: &Case| run(case).is_some_and(|result| problem_kind(&result) == wanted);
    let mut best = case.clone();
    loop {
        let before = size(&best);
        for file in 0..best.files.len() {
            let mut at = 0;
            while let Some(content) = without(&best.files[file].1, at) {
                let mut smaller = best.clone();
                smaller.files[file].1 = content;
                if fails(&smaller) { best = smaller } else { at += 1 }
            }
        }
        if size(&best) == before {
            return best;
        }
    }
}

fn size(case: &Case) -> usize {
    case.files.iter().map(|(_, content)| content.to_string().len()).sum()
}

/// Returns the tree without its `n`th part in preorder, or `None` if it has fewer parts.
fn without(tree: &Value, n: usize) -> Option<Value> {
    let mut tree = tree.clone();
    let mut left = n;
    remove(&mut tree, &mut left).then_some(tree)
}

fn remove(at: &mut Value, left: &mut usize) -> bool {
    match at {
        Value::Object(fields) => {
            for key in fields.keys().cloned().collect::<Vec<_>>() {
                if *left == 0 {
                    return fields.remove(&key).is_some();
                }
                *left -= 1;
                if remove(&mut fields[&key], left) {
                    return true;
                }
            }
            false
        }
        Value::Array(items) => {
            for i in 0..items.len() {
                if *left == 0 {
                    items.remove(i);
                    return true;
                }
                *left -= 1;
                if remove(&mut items[i], left) {
                    return true;
                }
            }
            false
        }
        _ => false,
    }
}

#[test]
fn parts_are_left_out_until_nothing_more_can_go() {
    let mut case = super::generate::draw_case(1);
    case.files = vec![("x".to_owned(), serde_json::json!({"a": [1, 2, {"b": 3}], "c": {"d": 4}}))];
    let run = |case: &Case| {
        let content = case.files[0].1.to_string();
        content.contains("\"b\"").then(|| "something with b".to_owned())
    };
    let small = shrink(&case, "something with b", run);
    assert_eq!(small.files[0].1, serde_json::json!({"a": [{"b": 3}]}));
}
