//! The accelerator-time ledger of a replication. The healthy pods of a Job are in one category, which changes for all
//! of them together.

use super::model::NodesModel;
use sim_base::{JobSetId, NodeId, SimTime};
use sim_policy::placement::NodeSet;
use sim_reliability::ledger::{Ledger, LedgerCategory, TimeLedger};
use sim_reliability::training::{BookedSegment, CompletedWork};

/// Accelerators and their total price per hour in millionths of the currency.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldAccelerators {
    pub number: u64,
    pub rate: u64,
}

impl HeldAccelerators {
    fn pair(self) -> (u64, u64) {
        (self.number, self.rate)
    }

    fn add(&mut self, other: HeldAccelerators) {
        self.number += other.number;
        self.rate += other.rate;
    }

    fn subtract(&mut self, other: HeldAccelerators) {
        self.number -= other.number;
        self.rate -= other.rate;
    }
}

/// Productive time that becomes lost, and who did the work.
pub type UndoneWork = Vec<(CompletedWork<HeldAccelerators>, u64)>;

#[derive(Copy, Clone, Debug)]
struct JobTime {
    category: LedgerCategory,
    /// Accelerators of its pods on healthy nodes.
    held: HeldAccelerators,
}

/// The ledger, and what the pods of each Job hold.
pub struct NodesAccounts<'m> {
    model: &'m NodesModel,
    ledger: Ledger,
    jobs: Vec<JobTime>,
    /// Accelerators of each node that pods hold, without those of crowds.
    held: Vec<u64>,
    /// Current price of an accelerator of each node per hour, in millionths of the currency; zero while the machine is
    /// not billed.
    rates: Vec<u64>,
    is_unhealthy: Vec<bool>,
}

impl<'m> NodesAccounts<'m> {
    pub fn new(model: &'m NodesModel) -> NodesAccounts<'m> {
        let mut ledger = Ledger::default();
        ledger.reset(&model.cluster, model.jobsets.len());
        let job = JobTime { category: LedgerCategory::Starting, held: HeldAccelerators::default() };
        NodesAccounts {
            ledger,
            jobs: vec![job; model.jobs.len()],
            held: vec![0; model.cluster.len()],
            rates: model.cluster.price_micros_per_hour.clone(),
            is_unhealthy: vec![false; model.cluster.len()],
            model,
        }
    }

    fn jobset(&self, job: usize) -> JobSetId {
        JobSetId(self.model.jobs[job].jobset as u32)
    }

    /// What a pod of a Job holds on a node.
    fn of_pod(&self, job: usize, node: NodeId) -> HeldAccelerators {
        let number = u64::from(self.model.template_of(job).accelerators);
        HeldAccelerators { number, rate: number * self.rates[node.ix()] }
    }

    /// A crowd comes to its nodes, which are healthy, or leaves them.
    pub fn move_crowd(&mut self, now: SimTime, job: usize, nodes: &NodeSet, is_added: bool) {
        let mut held = HeldAccelerators::default();
        match self.model.price {
            Some(price) => {
                held.number = u64::from(self.model.template_of(job).accelerators) * u64::from(nodes.len());
                held.rate = held.number * price;
            }
            None => nodes.iter().for_each(|node| held.add(self.of_pod(job, node))),
        }
        let jobset = self.jobset(job);
        let row = &mut self.jobs[job];
        if is_added {
            row.held.add(held);
            self.ledger.transfer(now, jobset, held.pair(), LedgerCategory::Idle, row.category);
        } else {
            row.held.subtract(held);
            self.ledger.transfer(now, jobset, held.pair(), row.category, LedgerCategory::Idle);
        }
    }

    /// A pod of a crowd is a single one from now on.
    pub fn leave_crowd(&mut self, job: usize, node: NodeId) {
        self.held[node.ix()] += self.of_pod(job, node).number;
    }

    /// A pod is bound to a node.
    pub fn bind(&mut self, now: SimTime, job: usize, node: NodeId) {
        let (held, jobset) = (self.of_pod(job, node), self.jobset(job));
        self.held[node.ix()] += held.number;
        if self.is_unhealthy[node.ix()] {
            let (from, to) = (LedgerCategory::Idle, LedgerCategory::Unhealthy);
            return self.ledger.transfer_jobset(now, jobset, held.pair(), from, to);
        }
        let row = &mut self.jobs[job];
        row.held.add(held);
        self.ledger.transfer(now, jobset, held.pair(), LedgerCategory::Idle, row.category);
    }

    /// A pod leaves its node.
    pub fn release(&mut self, now: SimTime, job: usize, node: NodeId) {
        let (held, jobset) = (self.of_pod(job, node), self.jobset(job));
        self.held[node.ix()] -= held.number;
        if self.is_unhealthy[node.ix()] {
            let (from, to) = (LedgerCategory::Unhealthy, LedgerCategory::Idle);
            return self.ledger.transfer_jobset(now, jobset, held.pair(), from, to);
        }
        let row = &mut self.jobs[job];
        row.held.subtract(held);
        self.ledger.transfer(now, jobset, held.pair(), row.category, LedgerCategory::Idle);
    }

    /// Moves all healthy pods of a Job to another category.
    pub fn set_category(&mut self, now: SimTime, job: usize, category: LedgerCategory) {
        let jobset = self.jobset(job);
        let row = &mut self.jobs[job];
        let before = std::mem::replace(&mut row.category, category);
        self.ledger.transfer(now, jobset, row.held.pair(), before, category);
    }

    /// Whether a node counts as unhealthy.
    pub fn is_unhealthy(&self, node: NodeId) -> bool {
        self.is_unhealthy[node.ix()]
    }

    /// A node becomes unhealthy or healthy. `pods` are the Jobs of the pods on it.
    pub fn set_unhealthy(&mut self, now: SimTime, node: NodeId, is_unhealthy: bool, pods: impl Iterator<Item = usize>) {
        if std::mem::replace(&mut self.is_unhealthy[node.ix()], is_unhealthy) == is_unhealthy {
            return;
        }
        let ends = |category| {
            if is_unhealthy { (category, LedgerCategory::Unhealthy) } else { (LedgerCategory::Unhealthy, category) }
        };
        for job in pods {
            let (held, jobset) = (self.of_pod(job, node), self.jobset(job));
            let row = &mut self.jobs[job];
            let (from, to) = ends(row.category);
            if is_unhealthy {
                row.held.subtract(held)
            } else {
                row.held.add(held)
            }
            self.ledger.transfer(now, jobset, held.pair(), from, to);
        }
        let free = u64::from(self.model.cluster.accelerators[node.ix()]) - self.held[node.ix()];
        let (from, to) = ends(LedgerCategory::Idle);
        self.ledger.transfer(now, JobSetId::NONE, (free, free * self.rates[node.ix()]), from, to);
    }

    /// Starts or ends the billing of a machine whose accelerators are all idle or all unhealthy. `pods` are the Jobs of
    /// the pods on it.
    pub fn set_billed(&mut self, now: SimTime, node: NodeId, is_billed: bool, pods: impl Iterator<Item = usize>) {
        let number = u64::from(self.model.cluster.accelerators[node.ix()]);
        let price = if is_billed { self.model.cluster.price_micros_per_hour[node.ix()] } else { 0 };
        let before = self.rates[node.ix()];
        if before == price || number == 0 {
            return;
        }
        let is_unhealthy = self.is_unhealthy[node.ix()];
        let category = if is_unhealthy { LedgerCategory::Unhealthy } else { LedgerCategory::Idle };
        let held: Vec<(JobSetId, u64)> =
            pods.map(|job| (self.jobset(job), self.of_pod(job, node).number)).filter(|_| is_unhealthy).collect();
        self.rates[node.ix()] = price;
        self.ledger.change_rate(now, (number, category), (before, price), &held);
        let counted = |is_billed: bool| if is_billed { 0 } else { number };
        self.ledger.change_not_billed(counted(!is_billed), counted(is_billed));
    }

    /// What the pods of Jobs hold on healthy nodes.
    pub fn held_by(&self, jobs: &[usize]) -> HeldAccelerators {
        let mut sum = HeldAccelerators::default();
        jobs.iter().for_each(|job| sum.add(self.jobs[*job].held));
        sum
    }

    /// Moves the time of a training segment, which was counted as Productive, to its categories.
    pub fn book(&mut self, now: SimTime, jobset: usize, held: HeldAccelerators, booked: &BookedSegment) {
        self.ledger.reclassify(now, (JobSetId(jobset as u32), held.pair()), &booked.other_categories);
    }

    /// Moves productive time to lost time.
    pub fn mark_lost(&mut self, now: SimTime, jobset: usize, undone: UndoneWork) {
        for (work, ns) in undone {
            let whose = (JobSetId(jobset as u32), work.participants.pair());
            self.ledger.reclassify(now, whose, &[(LedgerCategory::Lost, work.held_time(ns))]);
        }
    }

    /// Ends the replication.
    pub fn close(&mut self, now: SimTime) -> TimeLedger {
        self.ledger.close(now, &self.model.cluster.currency)
    }
}
