//! Exclusive placement (jobset.md 16): one Job to one topology domain.

use crate::base::*;

/// Pods of JobSets per domain of one topology key and one priority class.
pub struct ExclusiveView<'a> {
    /// Pods (not terminal) of any JobSet in each domain, of the leader's priority.
    pub jobset_pods: &'a [u32],
    /// Pods of the leader's own Job per domain: (domain, pods), usually one entry or none.
    pub own: &'a [(DomainId, u32)],
}

/// EXC-17, EXC-20: a leader may enter a domain where no JobSet pod of another Job of its priority is; if pods of its
/// own Job exist anywhere, only their domain. Terminating pods count until their phase is terminal.
pub fn domain_is_free(view: &ExclusiveView<'_>, domain: DomainId) -> bool {
    if !domain.is_some() {
        return false;
    }
    let own = view
        .own
        .iter()
        .find(|(d, _)| *d == domain)
        .map_or(0, |(_, pods)| *pods);
    let affinity_holds = own > 0 || view.own.iter().all(|(_, pods)| *pods == 0);
    affinity_holds && view.jobset_pods[domain.ix()] == own
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
            let view = ExclusiveView {
                jobset_pods: &pods,
                own,
            };
            assert_eq!(domain_is_free(&view, d(domain)), free, "{name}");
        }
        assert!(!domain_is_free(
            &ExclusiveView {
                jobset_pods: &[],
                own: &[]
            },
            DomainId::NONE
        ));
    }
}
