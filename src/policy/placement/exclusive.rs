//! Exclusive placement (EXC-1): one Job per topology domain.

use sim_base::DomainId;

/// EXC-17, EXC-20: a leader may enter a domain without JobSet pods of another Job with its priority; if pods of its
/// own Job exist, only their domain. Terminating pods count until their phase is terminal.
/// `jobset_pods` is the number of non-terminal pods of any JobSet in the domain with the leader's priority; `own`
/// contains the pods of the leader's own Job per domain, usually one entry or none.
pub fn domain_is_free(jobset_pods: u32, own: &[(DomainId, u32)], domain: DomainId) -> bool {
    if !domain.is_some() {
        return false;
    }
    let here = own.iter().find(|(d, _)| *d == domain);
    let here = here.map_or(0, |(_, pods)| *pods);
    let affinity_holds = here > 0 || own.iter().all(|(_, pods)| *pods == 0);
    affinity_holds && jobset_pods == here
}
