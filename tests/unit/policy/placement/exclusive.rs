//! Tests of `sim_policy::placement::exclusive`.

use sim_base::*;
use sim_policy::placement::exclusive::*;
#[test]
fn a_leader_enters_empty_domains_or_returns_to_its_own() {
    let d = DomainId;
    let own = [(d(1), 3)];
    let cases = [
        ("an empty domain is free", [0, 3], &own[..0], 0, true),
        ("a domain with a pod of another Job is not free", [0, 3], &own[..0], 1, false),
        ("its own domain is free", [0, 3], &own[..], 1, true),
        ("no other domain is free while its pods are elsewhere (EXC-20)", [0, 3], &own[..], 0, false),
        ("its own domain is not free if a pod of another Job is there", [0, 4], &own[..], 1, false),
    ];
    for (name, pods, own, domain, free) in cases {
        let here = pods[domain as usize];
        assert_eq!(domain_is_free(here, own, d(domain)), free, "{name}");
    }
    assert!(!domain_is_free(0, &[], DomainId::NONE));
}
