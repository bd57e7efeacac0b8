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
