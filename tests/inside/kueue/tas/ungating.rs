//! Domains of gated pods, with the situations of upstream's `topology_ungater_test.go`.

use super::situation::assignment;
use crate::tas::ungating::{GatedPod, RankRule, released_pods};
use sim_api::spec::keys::HOSTNAME;

/// Reads pods in the form `index`, `group.index`, with `@domain` if the pod has no gate; `?` is a missing index.
fn pods(text: &str) -> Vec<GatedPod> {
    let pod = |word: &str| {
        let (indexes, domain) = word.split_once('@').map_or((word, None), |(indexes, domain)| (indexes, Some(domain)));
        let (group, index) = indexes.split_once('.').map_or((None, indexes), |(group, index)| (Some(group), index));
        GatedPod {
            index: index.parse().ok(),
            group_index: group.and_then(|group| group.parse().ok()),
            domain: domain.map(|domain| domain.split('/').map(str::to_owned).collect()),
        }
    };
    text.split_whitespace().map(pod).collect()
}

/// Returns the domain of each pod, `-` if it is not released.
fn released(domains: &str, text: &str, (count, groups, offset): (u32, Option<u32>, u32), unhealthy: &[&str]) -> String {
    let assignment = assignment(domains, &[HOSTNAME.to_owned()]);
    let unhealthy: Vec<String> = unhealthy.iter().map(|node| (*node).to_owned()).collect();
    let rule = RankRule { count, groups, offset };
    let found = released_pods(&assignment, &pods(text), (count > 0).then_some(rule), &unhealthy);
    let of_pod = |at: usize| found.iter().find(|released| released.pod == at);
    let domain = |at| of_pod(at).map_or("-".to_owned(), |pod| assignment.domains[pod.domain].values.join("/"));
    (0..pods(text).len()).map(domain).collect::<Vec<_>>().join(" ")
}

#[test]
fn ranks_determine_the_domains() {
    let job = (3, None, 0);
    assert_eq!(released("x=1 y=2", "2 0 1", job, &[]), "y x y", "a Job");
    assert_eq!(released("x=1 y=2", "2 0@x 1", job, &[]), "y - y", "a pod is already in place");
    assert_eq!(released("x=1 y=2", "1", job, &[]), "y", "the others do not exist yet");
    let jobset = (4, Some(2), 0);
    assert_eq!(released("x=1 y=3", "0.0 0.1 1.0 1.1", jobset, &[]), "x y y y", "a JobSet");
    assert_eq!(released("x=2 y=2", "1.1 0.0", jobset, &[]), "y x", "a JobSet whose pods are incomplete");
    assert_eq!(released("x=1 y=1", "1 2", (2, None, 1), &[]), "x y", "workers behind one leader");
}

#[test]
fn without_valid_ranks_the_domains_are_filled_in_order() {
    assert_eq!(released("x=1 y=2", "2 0 1", (0, None, 0), &[]), "x y y", "no request");
    assert_eq!(released("x=1 y=2", "? ? ?", (3, None, 0), &[]), "x y y", "no index");
    assert_eq!(released("x=1 y=2", "1 1 2", (3, None, 0), &[]), "x y y", "repeated ranks");
    assert_eq!(released("x=1 y=2", "3 0 1", (3, None, 0), &[]), "x y y", "an index out of range");
    assert_eq!(released("x=1 y=1", "0 1", (2, None, 1), &[]), "x y", "a rank below zero");
    assert_eq!(released("x=1", "0@x 1", (2, None, 0), &[]), "- -", "the assignment is shorter than the pod set");
    assert_eq!(released("x=1 y=1", "0 1@x", (2, None, 0), &[]), "y -", "a running pod is elsewhere");
    assert_eq!(released("x=1 y=1", "0.0 0.1", (2, Some(0), 0), &[]), "x y", "no groups");
    assert_eq!(released("x=1 y=1", "0.2 0.0", (2, Some(2), 0), &[]), "x y", "the index exceeds the size of a Job");
    assert_eq!(released("x=1 y=2", "0 1@y 2 3 4", (0, None, 0), &[]), "x - y - -", "more pods than places");
}

#[test]
fn pods_of_an_unhealthy_node_wait() {
    assert_eq!(released("x=1 y=2", "2 0 1", (3, None, 0), &["x"]), "y - y");
    assert_eq!(released("x=1 y=2", "? ? ?", (3, None, 0), &["y"]), "x - -");
}
