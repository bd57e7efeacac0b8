//! The owner of TPU slices (GKE dynamic slicing). When the pods of a slice that lost a cube are gone, it deletes the
//! Slice and forms it again with a free cube of the block. On GKE, Kueue or a user does this, and GKE's slice
//! controller moves the node label. GKE documents that another cube takes the place of a lost one
//! (docs.cloud.google.com/kubernetes-engine/docs/concepts/dynamic-slicing), but not when; that the pods must be gone is
//! assumed.
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
use sim_policy::slices::{SliceCube, SlicePlan, plan_slice};

#[derive(Clone, Default)]
pub struct SliceController {
    cubes: SliceCubes,
    slices: Vec<TpuSlice>,
    /// Slices that wait for a free cube or the end of their pods.
    waiting: Vec<usize>,
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
                    self.examine_all(ctx);
                }
                NodeChange::Gone | NodeChange::Condition | NodeChange::Taints | NodeChange::Uncordoned => {
                    self.examine_all(ctx);
                }
                NodeChange::Spec | NodeChange::Lease | NodeChange::Machine { .. } => {}
            },
            ChangeKind::Pod(_, PodChange::Gone) => {
                for slice in std::mem::take(&mut self.waiting) {
                    self.examine(ctx, slice);
                }
            }
            _ => {}
        }
    }

    fn examine_all(&mut self, ctx: &mut EngineContext<'_>) {
        self.waiting.clear();
        for slice in 0..self.slices.len() {
            self.examine(ctx, slice);
        }
    }

    /// Starts to form a slice that lost a cube, if its pods are gone and it can have another cube.
    fn examine(&mut self, ctx: &mut EngineContext<'_>, at: usize) {
        if self.slices[at].is_forming {
            return;
        }
        let own = self.slices[at].cubes.iter().map(|cube| (*cube, self.cubes.view(ctx.store, *cube)));
        let is_taken = |cube: &usize| self.slices.iter().any(|slice| slice.cubes.contains(cube));
        let others = (0..self.cubes.len()).filter(|cube| !is_taken(cube));
        let others = others.map(|cube| (cube, self.cubes.view(ctx.store, cube)));
        match plan_slice(&own.collect::<Vec<(usize, SliceCube)>>(), others) {
            SlicePlan::Keep => {}
            SlicePlan::Wait => self.waiting.push(at),
            SlicePlan::Form(cubes) => self.begin_formation(ctx, at, cubes),
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
        self.label_cubes(ctx, &old);
        let after = formation_time(ctx, &self.slices[at]);
        let formed = SimulationEvent::SliceFormed(at as u32);
        ctx.schedule_after(after, TicketWait::SliceFormation, TicketSubject::Nothing, formed);
        ctx.restore_mark(before);
    }

    fn end_formation(&mut self, ctx: &mut EngineContext<'_>, at: usize) {
        self.slices[at].is_forming = false;
        let name = ctx.intern(&self.slices[at].name);
        ctx.emit(Body::SliceFormed { slice: name });
        self.label_cubes(ctx, &self.slices[at].cubes);
        // A cube may have been lost in the meantime.
        self.examine(ctx, at);
    }

    fn label_cubes(&self, ctx: &mut EngineContext<'_>, cubes: &[usize]) {
        cubes.iter().flat_map(|cube| self.cubes.nodes(*cube)).for_each(|node| self.label(ctx, *node));
    }

    /// Sets the label of a Node to the formed slice of its cube, or removes it.
    fn label(&self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let cube = self.cubes.of_node(node);
        let has_cube = |slice: &&TpuSlice| !slice.is_forming && cube.is_some_and(|cube| slice.cubes.contains(&cube));
        let label = self.slices.iter().find(has_cube).map(|slice| slice.name.clone());
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
