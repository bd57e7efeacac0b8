//! Past usage of LocalQueues, by which admission fair sharing orders their Workloads
//! (`pkg/util/admissionfairsharing`, `pkg/cache/queue/afs`).

pub mod ledger;
pub mod past_usage;

pub use ledger::UsageLedger;
pub use past_usage::ResourceNanos;

#[cfg(test)]
#[path = "../../../tests/inside/kueue/usage.rs"]
mod tests;
