//! Required node affinity: where pods are placed, when relabeled nodes take effect, and the messages if no node
//! matches.

use crate::support;
use sim_api::spec::ScenarioSpec;
use sim_engine::SimulationInput;
use sim_engine::record::*;

const TERM: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Returns a scenario of two pods of one Job with these `nodeSelectorTerms`, on two blue and two red nodes.
fn scenario(terms: &str, more: &str) -> ScenarioSpec {
    let pool = |name: &str, color: &str, generation: u32| {
        format!(
            "  - name: {name}-{{node}}\n    nodesPerIsland: 2\n    allocatable: {{cpu: 8}}\n    \
             labels: {{color: {color}, generation: \"{generation}\"}}\n"
        )
    };
    let text = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: small}}\ntopology:\n  \
         apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: small}}\n  pools:\n{}{}\
         jobSets: [{{manifest: jobset.yaml}}]\n{more}\nstop: {{at: 2m}}\nseed: 1\n",
        pool("blue", "blue", 5),
        pool("red", "red", 7)
    );
    let jobset = format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: js}}\nspec:\n  replicatedJobs:\n  \
         - name: w\n    template:\n      spec:\n        parallelism: 2\n        completions: 2\n        template:\n          \
         spec:\n            affinity: {{nodeAffinity: {{{TERM}: {{nodeSelectorTerms: {terms}}}}}}}\n            \
         containers: [{{name: c, image: 'i:1', resources: {{requests: {{cpu: 4}}}}}}]\n"
    );
    support::parse(&text, &jobset).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the nodes that pods were bound to, the messages of the scheduler and the Job controller, and the blocked
/// objects.
fn play(scenario: &ScenarioSpec) -> (Vec<String>, Vec<String>, Vec<String>) {
    let mut simulation = support::simulation(scenario);
    simulation.set_paranoid(true);
    let mut keep = KeepSink::default();
    let outcome = simulation.run(1, 0, &mut keep);
    let names = simulation.names();
    let (mut nodes, mut output) = (Vec::new(), Vec::new());
    for record in &keep.0 {
        match record.body {
            Body::PodBound { node, .. } => nodes.push(names.node(node).to_owned()),
            Body::PodUnschedulable { reason, .. } => output.push(names.text(reason).to_owned()),
            Body::KubeEvent { message, .. } => output.push(names.text(message).to_owned()),
            _ => {}
        }
    }
    nodes.sort();
    nodes.dedup();
    (nodes, output, outcome.blocked)
}

#[test]
fn pods_go_to_nodes_that_one_of_the_terms_matches_and_to_no_other() {
    for (terms, nodes) in [
        ("[{matchExpressions: [{key: color, operator: In, values: [red]}]}]", &["red-0", "red-1"][..]),
        ("[{}, {matchExpressions: [{key: generation, operator: Gt, values: ['6']}]}]", &["red-0", "red-1"]),
        ("[{matchFields: [{key: metadata.name, operator: In, values: [red-1]}]}]", &["red-1"]),
        (
            "[{matchExpressions: [{key: color, operator: Exists}, {key: color, operator: NotIn, values: [red]}], \
             matchFields: [{key: metadata.name, operator: NotIn, values: [blue-0]}]}]",
            &["blue-1"],
        ),
        (
            "[{matchFields: [{key: metadata.name, operator: In, values: [blue-1]}]}, \
             {matchFields: [{key: metadata.name, operator: In, values: [red-0]}], \
             matchExpressions: [{key: generation, operator: Lt, values: ['7']}]}]",
            &["blue-1"],
        ),
    ] {
        let (bound, text, stuck) = play(&scenario(terms, ""));
        assert_eq!(bound, nodes, "{terms}: {text:?}");
        assert_eq!(stuck, [""; 0], "{terms}");
    }
}

/// The messages are those of `FitError` and `RunPreFilterPlugins`.
#[test]
fn what_no_node_matches_can_never_be_placed_in_the_schedulers_words() {
    for (terms, words) in [
        (
            "[{matchExpressions: [{key: color, operator: In, values: [green]}]}]",
            "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.",
        ),
        (
            "[{matchFields: [{key: metadata.name, operator: In, values: [green-0]}]}]",
            "0/4 nodes are available: 4 node(s) didn't satisfy plugin(s) [NodeAffinity].",
        ),
        (
            "[{matchFields: [{key: metadata.name, operator: In, values: [red-0]}], \
             matchExpressions: [{key: color, operator: In, values: [blue]}]}]",
            "0/4 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 3 node(s) didn't satisfy \
             plugin(s) [NodeAffinity].",
        ),
        (
            "[{matchFields: [{key: metadata.name, operator: In, values: [red-0]}, \
             {key: metadata.name, operator: In, values: [red-1]}]}]",
            "0/4 nodes are available: pod affinity terms conflict.",
        ),
    ] {
        let refused = SimulationInput::new(&scenario(terms, "")).err();
        let text = refused.map(|e| format!("{e:#}")).unwrap_or_default();
        let expected = format!("pod js-w-0-0 can never be placed: {words}");
        assert_eq!(text, expected);
    }
}

#[test]
fn a_node_that_is_relabelled_takes_the_pods_that_waited_for_it() {
    let green = "[{matchExpressions: [{key: color, operator: In, values: [green]}]}]";
    let label = "faults: [{at: 30s, patch: {kind: Node, name: blue-1, merge: {metadata: {labels: {color: green}}}}}]";
    let mut scenario = scenario(green, label);
    scenario.admit_unplaceable = true;
    let (nodes, text, stuck) = play(&scenario);
    assert_eq!(nodes, ["blue-1"]);
    let words = "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.";
    assert!(text.iter().any(|s| s.starts_with(words)), "{text:?}");
    assert_eq!(stuck, [""; 0]);
}

#[test]
fn an_operator_that_the_api_server_does_not_know_is_rejected_in_its_words() {
    let like = "[{matchExpressions: [{key: color, operator: Like, values: [red]}]}]";
    let (nodes, text, _) = play(&scenario(like, ""));
    assert_eq!(nodes, [""; 0]);
    let words = format!(
        "spec.template.spec.affinity.nodeAffinity.{TERM}.nodeSelectorTerms[0].matchExpressions[0].operator: \
         Invalid value: \"Like\": not a valid selector operator"
    );
    assert!(text.iter().any(|s| s.contains(&words)), "{text:?}");
}
