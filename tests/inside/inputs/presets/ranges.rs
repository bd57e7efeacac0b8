//! Unit tests of `sim_inputs::presets::ranges`.

use super::*;

#[test]
fn ranges_are_those_of_fields_that_a_file_has_and_each_has_a_source() {
    let text = "nodes: 50\nparameters: {s: 3}\nspares: {nodes: \"${s}\"}\njob: {recovery: 5m}\n\
        faults: [{preset: rsc}, {cause: x, mtbf: 3d}]\nrepair: {stages: [{takes: 1h}]}\n";
    let source = SourceText { file: "f.yaml".to_owned(), text: text.to_owned() };
    let all = sourced(&source);
    let paths: Vec<&str> = all.iter().map(|r| r.path.as_str()).collect();
    let expected =
        ["faults[0].per1000NodeDays", "faults[1].times", "job.recovery", "repair.stages[0].takes", "parameters.s"];
    assert_eq!(paths, expected);
    assert_eq!((all[1].low.as_str(), all[1].high.as_str()), ("0.5", "2"));
    assert_eq!((all[4].low.as_str(), all[4].high.as_str()), ("0", "5"));
    let pods = "parameters: {slices: 20, step: 6s}\ntopology: {pools: [{count: \"${slices}\", accelerator: a}, \
        {count: 1}]}\nfaultProcesses: [{cause: x, mtbf: 3d, backAfter: 2h}]\n";
    let source = SourceText { file: "s.yaml".to_owned(), text: pods.to_owned() };
    let ranges = sourced(&source);
    let found: Vec<_> = ranges.iter().map(|r| (r.path.as_str(), r.low.as_str(), r.high.as_str())).collect();
    assert_eq!(found, [("faultProcesses[0].times", "0.5", "2"), ("parameters.slices", "20", "22")]);
    assert!(ranges[1].is_decision && !ranges[0].is_decision);
    let named = ["parameters.step", "topology.pools[1].count", "faultProcesses[0].backAfter"];
    assert_eq!(without_range(&source), named);
    // The published range is that of a whole repair, and every other number is named.
    let stages = "kind: Fleet\nmetadata: {name: x1}\nnodes: 9\njob: {nodes: 8, recovery: 5m}\nrepair: {stages: [{name: reboot, \
        takes: 40m, escalates: 0.3}, {name: swap, takes: {exponential: {mean: 3d}}}]}\nseed: 3\n";
    let source = SourceText { file: "f.yaml".to_owned(), text: stages.to_owned() };
    assert_eq!(sourced(&source).iter().map(|r| r.path.as_str()).collect::<Vec<_>>(), ["job.recovery"]);
    let named =
        ["nodes", "job.nodes", "repair.stages[0].takes", "repair.stages[0].escalates", "repair.stages[1].takes"];
    assert_eq!(without_range(&source), named);
    for entry in read::list(&RANGES, "ranges") {
        let source = read::string(entry, "source").unwrap_or_default();
        let named = ["FAIL-", "CKPT-", "INIT-", "REP-", "NODE-"].iter().any(|id| source.contains(id));
        assert!(named, "{source}");
        let levels = ["documented", "derived", "unverified"];
        let confidence = read::string(entry, "confidence").unwrap_or_default();
        assert!(levels.contains(&confidence.as_str()), "{source}");
    }
}
