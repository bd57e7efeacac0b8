//! The owner of TPU slices with dynamic slicing: when the pods of a slice that lost a cube are gone, it deletes the Slice
//! and forms it again with a free cube of the block (hardware.md 2.5). Kueue or a user does this on GKE, in this order;
//! GKE's slice controller moves the node label.
//!
//! It acts only in scenarios with `sliceFormation`. Knows only stored objects: Nodes, their labels and pods.

mod cubes;

use super::apiserver;
use super::ctx::EngineContext;
use super::event::SimulationEvent;
use crate::record::{Body, TicketSubject, TicketWait};
use crate::store::{ChangeKind, NodeChange, PodChange};
use cubes::SliceCubes;
use sim_api::spec::keys::TPU_SLICE;
use sim_base::random::{StreamKey, StreamPurpose, UniformDraw};
use sim_base::{Duration, NodeId};
use sim_policy::slices::{SlicePlan, plan_slice};

#[derive(Clone, Default)]
pub struct SliceController {
    cubes: SliceCubes,
    slices: Vec<TpuSlice>,
    /// Whether a slice waits for a free cube or the end of its pods. Only then are changes of pods observed.
    waits: bool,
}

#[derive(Clone)]
struct TpuSlice {
    name: String,
    cubes: Vec<usize>,
    is_forming: bool,
    /// Number of times it was formed again.
    formations: u32,
}

impl SliceController {
    pub fn reset(&mut self, ctx: &mut EngineContext<'_>) {
        *self = SliceController::default();
        if ctx.scenario.slice_formation.is_none() {
            return;
        }
        self.cubes = SliceCubes::of(&ctx.store.nodes.cluster);
        let slice = |slice: &sim_api::spec::FormedSlice| TpuSlice {
            name: slice.name.clone(),
            cubes: slice.cubes.iter().filter_map(|cube| self.cubes.named(cube)).collect(),
            is_forming: false,
            formations: 0,
        };
        self.slices = ctx.scenario.topology.slices.iter().map(slice).collect();
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent) {
        match event {
            SimulationEvent::SliceFormed(slice) => self.end_formation(ctx, slice as usize),
            other => unreachable!("not an event of slices: {other:?}"),
        }
    }

    /// Returns true if it forms slices in this scenario.
    #[inline]
    pub fn has_slices(&self) -> bool {
        !self.slices.is_empty()
    }

    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        match what {
            ChangeKind::Node(node, change) if self.cubes.of_node(node).is_some() => match change {
                NodeChange::Created => {
                    self.label(ctx, node);
                    self.replace_lost_cubes(ctx);
                }
                NodeChange::Gone | NodeChange::Condition | NodeChange::Taints | NodeChange::Uncordoned => {
                    self.replace_lost_cubes(ctx);
                }
                NodeChange::Spec | NodeChange::Lease | NodeChange::Machine { .. } => {}
            },
            ChangeKind::Pod(_, PodChange::Gone) if self.waits => self.replace_lost_cubes(ctx),
            _ => {}
        }
    }

    /// Starts to form every slice that lost a cube and can have another one.
    fn replace_lost_cubes(&mut self, ctx: &mut EngineContext<'_>) {
        self.waits = false;
        for at in (0..self.slices.len()).filter(|at| !self.slices[*at].is_forming).collect::<Vec<usize>>() {
            let view = self.cubes.view(ctx.store, |cube| self.slices.iter().any(|slice| slice.cubes.contains(&cube)));
            match plan_slice(&self.slices[at].cubes, &view) {
                SlicePlan::Keep => {}
                SlicePlan::Wait => self.waits = true,
                SlicePlan::Form(cubes) => self.begin_formation(ctx, at, cubes),
            }
        }
    }

    fn begin_formation(&mut self, ctx: &mut EngineContext<'_>, at: usize, cubes: Vec<usize>) {
        let before = ctx.mark();
        let slice = &mut self.slices[at];
        let name = ctx.intern(&slice.name);
        let replaced = slice.cubes.iter().filter(|cube| !cubes.contains(cube)).count() as u32;
        let old = std::mem::replace(&mut slice.cubes, cubes);
        slice.is_forming = true;
        slice.formations += 1;
        ctx.emit(Body::SliceForming { slice: name, replaced });
        for node in old.iter().flat_map(|cube| self.cubes.nodes(*cube)).copied().collect::<Vec<NodeId>>() {
            self.label(ctx, node);
        }
        let after = formation_time(ctx, &self.slices[at]);
        let formed = SimulationEvent::SliceFormed(at as u32);
        ctx.schedule_after(after, TicketWait::SliceFormation, TicketSubject::Nothing, formed);
        ctx.restore_mark(before);
    }

    fn end_formation(&mut self, ctx: &mut EngineContext<'_>, at: usize) {
        self.slices[at].is_forming = false;
        let name = ctx.intern(&self.slices[at].name);
        ctx.emit(Body::SliceFormed { slice: name });
        for node in self.slices[at].cubes.iter().flat_map(|cube| self.cubes.nodes(*cube)).copied().collect::<Vec<_>>() {
            self.label(ctx, node);
        }
        // A cube may have been lost in the meantime.
        self.replace_lost_cubes(ctx);
    }

    /// Sets the label of a Node to the formed slice of its cube, or removes it.
    fn label(&self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let cube = self.cubes.of_node(node);
        let formed = self.slices.iter().filter(|slice| !slice.is_forming);
        let slice = formed.into_iter().find(|slice| cube.is_some_and(|cube| slice.cubes.contains(&cube)));
        let label = slice.map(|slice| slice.name.clone());
        let mut object = ctx.store.nodes.cluster.object(node);
        let old = match &label {
            Some(label) => object.labels.insert(TPU_SLICE.to_owned(), label.clone()),
            None => object.labels.remove(TPU_SLICE),
        };
        if old != label {
            apiserver::change_node(ctx, node, &object);
        }
    }
}

/// Draws the time from the deletion of a Slice until the new one is active.
fn formation_time(ctx: &mut EngineContext<'_>, slice: &TpuSlice) -> Duration {
    let draw = UniformDraw {
        purpose: StreamPurpose::SliceFormation,
        entity: StreamKey::from_text(&slice.name),
        occurrence: slice.formations - 1,
        substream: 0,
    };
    ctx.scenario.slice_formation.as_ref().map_or(Duration::ZERO, |time| ctx.draws.sample(draw, time))
}
