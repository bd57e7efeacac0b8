//! Unit tests of `jobset_sim::glossary::rules`.

use super::*;

const PAGE: &str = "# Failures

## FP: failure policy

Order of `rules`.

- **FP-7** The budget is
  `used` up.
- **Other** text
  continued.

### 1.4 Ends

First.

Second.
";

#[test]
fn rules_families_and_numbered_sections_of_a_page_are_found() {
    let entries = page_entries("failure", PAGE);
    let lines: Vec<String> = entries.iter().map(|e| format!("{} ({}): {}", e.word, e.kind, e.text)).collect();
    assert_eq!(
        lines,
        [
            "FP (rules): FP: failure policy. Order of rules.", "FP-7 (rule): The budget is used up.",
            "failure.md 1.4 (section): 1.4 Ends. First.  Second.",
        ]
    );
    assert_eq!(entries[0].facts[0].1, "FP-7");
    assert_eq!(entries[1].mentions, ["used"]);
}
