//! Unit tests of `sim_inputs::presets::uncertain`.

use super::*;

#[test]
fn failure_rates_are_uncertain_and_designs_are_choices() {
    let text = "parameters: {rate: 1, slices: 3}\ntopology: {pools: [{count: \"${slices}\"}]}\nfaultProcesses:\n\
                - {cause: a, mtbf: \"${rate}\"}\n";
    let text = SourceText { file: "s.yaml".to_owned(), text: text.to_owned() };
    for (path, expected) in [
        ("parameters.rate", true),
        ("parameters.slices", false),
        ("faultProcesses[0].times", true),
        ("faults.1.per1000NodeDays", true),
        ("faultProcesses[0].deletedAfter", false),
        ("faultProcesses[0].rolling.batch", false),
        ("spec.replicatedJobs[0].replicas", false),
        ("training.checkpoint.every", false),
    ] {
        assert_eq!(is_uncertain(Some(&text), path), expected, "{path}");
    }
}
