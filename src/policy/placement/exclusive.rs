//! Exclusive placement (EXC-1): one Job to one topology domain.

use sim_base::*;

/// EXC-17, EXC-20: a leader may enter a domain where no JobSet pod of another Job of its priority is; if pods of its
/// own Job exist anywhere, only their domain. Terminating pods count until their phase is terminal.
///
/// `jobset_pods`: pods (not terminal) of any JobSet in the domain, of the leader's priority; `own`: pods of the
/// leader's own Job per domain, usually one entry or none.
pub fn domain_is_free(jobset_pods: u32, own: &[(DomainId, u32)], domain: DomainId) -> bool {
    if !domain.is_some() {
        return false;
    }
    let here = own.iter().find(|(d, _)| *d == domain);
    let here = here.map_or(0, |(_, pods)| *pods);
    let affinity_holds = here > 0 || own.iter().all(|(_, pods)| *pods == 0);
    affinity_holds && jobset_pods == here
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
