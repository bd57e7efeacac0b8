//! Why the scheduler found no node, in its words.

use super::Scheduler;
use crate::base::*;
use crate::engine::ctx::Ctx;
use crate::placement::explain::{Reasons, explain};

impl Scheduler {
    pub fn explain_unschedulable(&self, ctx: &Ctx<'_>, pod: PodId) -> String {
        let existing = ctx.store.nodes.existing();
        let reasons = existing.map(|node| self.reason_against(ctx, pod, node));
        explain(ctx.store.nodes.existing().count(), reasons)
    }

    fn reason_against(&self, ctx: &Ctx<'_>, pod: PodId, node: NodeId) -> Reasons {
        let store = &**ctx.store;
        let template = store.template(pod);
        let (facts, cluster) = (&template.facts, &store.nodes.cluster);
        if let Some(reason) = facts.reason_against(cluster, node) {
            return reason;
        }
        let mut taints = store.nodes.taints[node.ix()].iter();
        if let Some(t) = taints.find(|t| !facts.tolerates(t)) {
            return Reasons::Taint(t.key.clone(), t.value.clone());
        }
        if let Some(key) = template.exclusive
            && !store.is_leader(pod)
            && store.templates.domains[key as usize].of[node.ix()] != store.pods.domain[pod.ix()]
        {
            return Reasons::Selector;
        }
        let columns = cluster.resources.len();
        let free = &self.books.free()[node.ix() * columns..];
        let mut requests = facts.requests.iter();
        match requests.find(|(c, milli)| free[*c as usize] < *milli) {
            Some((c, _)) => Reasons::insufficient(&cluster.resources[*c as usize]),
            None => Reasons::AntiAffinity,
        }
    }
}
