//! The script: executes the scenario's faults, user requests and operator actions at their times.
//!
//! Uses the API server like any other client, and the kubelets for actions on machines and processes, which have no
//! API.

mod create;
mod faults;
mod finalizers;
mod holds;
mod lookup;
mod patch;
mod patch_job;
mod patch_node;
mod patch_status;
mod requests;
pub(crate) mod show;
mod show_pod;
mod state;
mod webhooks;

pub use state::User;

use super::apiserver;
use super::ctx::Ctx;
use super::event::Event;
use super::kubelet::Kubelets;
use crate::record::{About, Body, Waited};
use sim_api::spec::FaultTime;
use webhooks::{CREATES, webhook_answers};

impl User {
    /// Creates the objects that exist before the first event.
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

    /// Schedules, once, the actions that are timed relative to readiness.
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
}
