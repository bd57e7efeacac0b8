//! State of the script: the remaining actions, and the aliases of nodes.

use super::node_holds::UserHolds;
use crate::ctx::EngineContext;
use crate::diagnosis;
use crate::pod_views::PodViews;
use sim_api::spec::{FaultTime, JobSet, ScriptedFault, StopWhen};
use sim_base::NodeId;
use std::sync::Arc;

#[derive(Clone, Default)]
pub struct ScriptRunner {
    /// The JobSets of the scenario, as submitted.
    pub(super) manifests: Vec<Arc<JobSet>>,
    /// Aliases of nodes for later actions of the script.
    pub(super) aliases: Vec<(String, NodeId)>,
    /// Number of actions that have not been executed.
    pub actions_left: u32,
    /// Number of calendar-based random faults that have not occurred.
    pub random_faults_left: u32,
    /// Number of actions that wait for readiness.
    pub(super) waiting: u32,
    pub(super) armed: bool,
    pub(super) holds: UserHolds,
    /// The pods that evictions have compared with PodDisruptionBudgets.
    pub(super) views: PodViews,
}

impl ScriptRunner {
    pub fn reset(&mut self, ctx: &mut EngineContext<'_>) {
        let scenario = ctx.scenario;
        if self.manifests.len() != scenario.jobsets.len() {
            let own = scenario.jobsets.iter().map(|j| Arc::new(j.jobset.clone()));
            self.manifests = own.collect();
        }
        self.aliases.clear();
        (self.random_faults_left, self.actions_left, self.waiting) = (0, 0, 0);
        self.holds = UserHolds::default();
        self.views = PodViews::default();
        scenario.faults.iter().for_each(|f| self.count_action(f));
        self.armed = false;
    }

    pub fn count_action(&mut self, fault: &ScriptedFault) {
        let by_calendar = matches!(fault.at, FaultTime::At(_));
        match fault.random_cause {
            Some(_) => self.random_faults_left += u32::from(by_calendar),
            None => self.actions_left += 1,
        }
        self.waiting += u32::from(matches!(fault.at, FaultTime::AfterReady(_)));
    }

    /// Returns whether a random fault does not occur any more: the run only waits for what follows the end of the last
    /// JobSet.
    pub fn is_past_end(&self, ctx: &EngineContext<'_>, fault: u32) -> bool {
        let is_random = ctx.scenario.faults[fault as usize].random_cause.is_some();
        let may_end = ctx.scenario.stop.when == StopWhen::Settled && self.actions_left == 0;
        is_random && may_end && diagnosis::all_finished(ctx)
    }

    /// A random fault does not occur.
    pub fn skip_fault(&mut self, fault: &ScriptedFault) {
        self.random_faults_left -= u32::from(matches!(fault.at, FaultTime::At(_)));
    }

    pub fn is_finished(&self) -> bool {
        self.actions_left == 0 || !self.armed && self.actions_left == self.waiting
    }
}
