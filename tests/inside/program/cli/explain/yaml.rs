//! Unit tests of `jobset_sim::cli::explain::yaml`.

use super::*;
use serde_json::json;
use sim_inputs::{SourceText, documents};

#[test]
fn what_is_written_is_read_again() {
    let value = json!({
        "a": {"b": [1, "1", "", "yes", "x: y", "- z", {"c": [], "d": {}, "e": null}], "f": "two\nlines\n"},
        "jobset.sigs.k8s.io/job-index": "0",
        "g": ["one\ntwo", " lead", "tail ", "#no", "é", "inf", "0x1f", "1e3", "~"],
        "h": true,
        "i": "a\n\n",
    });
    let text = yaml(&value);
    let source = SourceText { file: "t".to_owned(), text };
    assert_eq!(documents(&source).map_err(|e| e.to_string()), Ok(vec![value]), "{}", source.text);
}
