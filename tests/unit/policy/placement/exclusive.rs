//! Tests of `sim_policy::placement::exclusive`.

use sim_base::*;
use sim_policy::placement::exclusive::*;
#[test]
fn a_leader_enters_empty_domains_or_returns_to_its_own() {
    let d = DomainId;
    let own = [(d(1), 3)];
    let cases = [
        ("an empty domain is free", [0, 3], &own[..0], 0, true),
        (
            "a domain with another Job's pod is not",
            [0, 3],
            &own[..0],
            1,
            false,
        ),
        ("its own domain is free to it", [0, 3], &own[..], 1, true),
        (
            "while its pods are elsewhere no other domain is (EXC-20)",
            [0, 3],
            &own[..],
            0,
            false,
        ),
        (
            "its own domain shared with a stranger is not free",
            [0, 4],
            &own[..],
            1,
            false,
        ),
    ];
    for (name, pods, own, domain, free) in cases {
        let here = pods[domain as usize];
        assert_eq!(domain_is_free(here, own, d(domain)), free, "{name}");
    }
    assert!(!domain_is_free(0, &[], DomainId::NONE));
}
