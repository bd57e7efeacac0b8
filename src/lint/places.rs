//! From the server's field paths to places in the text.

use crate::manifest::node::{Node, Pos};

/// Field paths that a sentence of the API server names, in its order: `spec.replicatedJobs[0].replicas`.
pub fn paths(sentence: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for root in ["spec", "metadata"] {
        for (at, _) in sentence.match_indices(root) {
            let before = &sentence[..at];
            let quoted = before.ends_with("field \"");
            // Not inside a value that the sentence quotes.
            if !(at == 0 || before.ends_with([' ', '[']) || quoted) {
                continue;
            }
            let path = path_from(&sentence[at..]);
            let rest = &sentence[at + path.len()..];
            if (rest.starts_with(": ") || (quoted && rest.starts_with('"')))
                && !found.contains(&path)
            {
                found.push(path);
            }
        }
    }
    found
}

fn path_from(text: &str) -> String {
    let mut inside = false;
    let mut length = 0;
    for c in text.chars() {
        match c {
            '[' => inside = true,
            ']' if inside => inside = false,
            _ if inside => {}
            c if c.is_ascii_alphanumeric() || c == '.' || c == '_' || c == '-' => {}
            _ => break,
        }
        length += c.len_utf8();
    }
    text[..length].trim_end_matches('.').to_owned()
}

/// The place of the field, or of the nearest ancestor that was written; `None` if not even the first part was.
pub fn locate(root: &Node, path: &str) -> Option<Pos> {
    let mut node = root;
    let mut at = None;
    for part in path.split('.') {
        let (key, indexes) = match part.split_once('[') {
            Some((key, rest)) => (key, rest),
            None => (part, ""),
        };
        let Some((written, value)) = node.entries().iter().find(|(k, _)| k.name == key) else {
            break;
        };
        (node, at) = (value, Some(written.at));
        for index in indexes.split('[').filter(|i| !i.is_empty()) {
            let number: Option<usize> = index.trim_end_matches(']').parse().ok();
            let Some(item) = number.and_then(|n| node.items().get(n)) else {
                return at;
            };
            (node, at) = (item, Some(item.at));
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Source, yaml};

    #[test]
    fn paths_are_found_in_the_servers_sentences() {
        let one = "Job.batch \"a\" is invalid: spec.completions: Required value: when completion mode is Indexed";
        assert_eq!(paths(one), ["spec.completions"]);
        let two = "JobSet \"b\" is invalid: [spec.replicatedJobs[1].name: Invalid value: \"x\": no, spec.suspend: no]";
        assert_eq!(paths(two), ["spec.replicatedJobs[1].name", "spec.suspend"]);
        let strict = "strict decoding error: unknown field \"spec.foo[0].bar\"";
        assert_eq!(paths(strict), ["spec.foo[0].bar"]);
        assert!(paths("object is being deleted").is_empty());
    }

    #[test]
    fn a_path_leads_to_the_nearest_place_that_was_written() {
        let text = "spec:\n  jobs:\n  - name: a\n  - name: b\n    n: 1\n";
        let source = Source {
            file: "x".into(),
            text: text.into(),
        };
        let root = yaml::parse(&source).unwrap().remove(0);
        let line = |path| locate(&root, path).map(|at| at.line);
        assert_eq!(line("spec.jobs[1].n"), Some(5));
        assert_eq!(line("spec.jobs[0].n"), Some(3));
        assert_eq!(line("spec.jobs[7].n"), Some(2));
        assert_eq!(line("status"), None);
    }
}
