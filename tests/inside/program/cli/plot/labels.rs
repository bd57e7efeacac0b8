//! Unit tests of `jobset_sim::cli::plot::labels`.

use super::*;

#[test]
fn runs_are_named_by_the_properties_that_differ() {
    let run = |strategy: &str, preset: &str, scenario: &str, more: &[(&str, &str)]| -> Vec<Property> {
        let own = [("strategy", strategy), ("preset", preset)];
        let last = [(SCENARIO, scenario), (FILE, scenario)];
        let all = own.iter().chain(more).chain(&last);
        all.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    for (runs, expected) in [
        (vec![run("A", "stock", "x", &[])], vec!["A"]),
        (vec![run("A", "stock", "x", &[]), run("B", "stock", "y", &[])], vec!["A", "B"]),
        (vec![run("A", "stock", "x", &[]), run("B", "kops", "x", &[])], vec!["A, stock", "B, kops"]),
        (vec![run("A", "stock", "x", &[]), run("A", "stock", "y", &[])], vec!["x", "y"]),
        (vec![run("A", "stock", "x", &[]), run("A", "stock", "x", &[])], vec!["run 1", "run 2"]),
        (vec![run("A", "stock", "x", &[]), run("A", "stock", "x", &[("qps", "QPS 50")])], vec!["unchanged", "QPS 50"]),
    ] {
        assert_eq!(differing(&runs), expected);
    }
}
