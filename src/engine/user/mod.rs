//! The user, the operator and the world: what the scenario says happens at given instants.
//!
//! Acts through the API server like everybody else; on machines and processes, which have no API, through the kubelets.

mod create;
mod faults;
mod holds;
mod patch;
mod patch_job;
mod patch_node;
mod patch_status;
mod requests;
pub(super) mod show;
mod show_pod;

use super::apiserver;
use super::ctx::Ctx;
use super::event::Event;
use super::kubelet::Kubelets;
use crate::base::*;
use crate::record::{About, Body, Waited};
use crate::spec::{FaultTime, JobSet, ScriptedFault};
use holds::Holds;
use requests::{CREATES, webhook_answers};
use std::sync::Arc;

#[derive(Default)]
pub struct User {
    /// The JobSets of the scenario, as they are submitted.
    manifests: Vec<Arc<JobSet>>,
    /// Nodes kept by alias for later actions of the script.
    aliases: Vec<(String, NodeId)>,
    /// Actions of the script that have not fired.
    pub actions_left: u32,
    /// The same of random faults by the calendar.
    pub drawn_left: u32,
    /// Actions that wait for readiness.
    waiting: u32,
    armed: bool,
    holds: Holds,
}

impl User {
    pub fn reset(&mut self, ctx: &mut Ctx<'_>) {
        let scenario = ctx.scenario;
        if self.manifests.len() != scenario.jobsets.len() {
            let own = scenario.jobsets.iter().map(|j| Arc::new(j.jobset.clone()));
            self.manifests = own.collect();
        }
        self.aliases.clear();
        let (drawn, written): (Vec<_>, Vec<_>) =
            scenario.faults.iter().partition(|f| f.drawn_as.is_some());
        let by_calendar = |f: &&&ScriptedFault| matches!(f.at, FaultTime::At(_));
        self.drawn_left = drawn.iter().filter(by_calendar).count() as u32;
        self.actions_left = written.len() as u32;
        self.holds = Holds::default();
        let waiting = |f: &&ScriptedFault| matches!(f.at, FaultTime::AfterReady(_));
        self.waiting = scenario.faults.iter().filter(waiting).count() as u32;
        self.armed = false;
    }

    /// Objects that exist before anything happens.
    pub fn begin(&mut self, ctx: &mut Ctx<'_>) {
        for object in &ctx.scenario.objects {
            let created = match object["kind"].as_str() {
                Some("Node") => self.add_node(ctx, object),
                _ => self.create(ctx, object, None),
            };
            if let Err(refusal) = created {
                let name = object["metadata"]["name"].as_str().unwrap_or("?");
                let kind = object["kind"].as_str().unwrap_or("object");
                let text = format!("{kind} {name}, which should exist from the start: {refusal}");
                ctx.progress.warnings.push(text);
            }
        }
    }

    pub fn handle(&mut self, ctx: &mut Ctx<'_>, event: Event, kubelets: &mut Kubelets) {
        match event {
            Event::Submit(jobset) => {
                let name = ctx.store.names.jobsets[jobset.ix()].name.clone();
                let admitted = webhook_answers(ctx, CREATES);
                match admitted.and_then(|()| create::no_such_jobset(ctx, &name)) {
                    Ok(()) => {
                        let manifest = self.manifests[jobset.ix()].clone();
                        apiserver::create_jobset(ctx, jobset, manifest);
                    }
                    Err(refusal) => {
                        let text = format!("JobSet {name} was not created: {refusal}");
                        ctx.progress.warnings.push(text);
                        let answer = ctx.text(&refusal);
                        ctx.emit(Body::JobSetRefused { jobset, answer });
                    }
                }
            }
            Event::Fault(index) => self.act(ctx, index, kubelets),
            other => unreachable!("not an event of the user: {other:?}"),
        }
    }

    /// Arms the actions that wait for readiness, once.
    pub fn arm_ready_faults(&mut self, ctx: &mut Ctx<'_>) {
        if std::mem::replace(&mut self.armed, true) {
            return;
        }
        for (i, fault) in ctx.scenario.faults.iter().enumerate() {
            if let FaultTime::AfterReady(delay) = fault.at {
                let event = Event::Fault(i as u32);
                ctx.after(delay, Waited::Script, About::Nothing, event);
            }
        }
    }

    pub fn script_is_over(&self) -> bool {
        self.actions_left == 0 || !self.armed && self.actions_left == self.waiting
    }
}
