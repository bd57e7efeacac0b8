//! Visits every state that is reachable from a start state, checks the invariants in each, and follows the helpful
//! events of each state to the end.
//!
//! Must never omit a state: the setups of `cases.rs` are finite and enumerated completely.

use super::events::{Event, possible_events};
use super::setups::Setup;
use super::transition::state_after;
use super::world::State;
use super::{blocked, invariants};
use crate::Seen;
use sim_policy::ActionPlan;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Clone, Copy, Default)]
struct Node {
    /// Predecessor of the state, and the event between them.
    from: Option<(u64, Event)>,
    /// Successor of the state after its first helpful event, if there is one.
    helped: Option<(u64, Event)>,
}

struct Walk<'s> {
    setup: &'s Setup,
    known: BTreeMap<u64, Node>,
    left: VecDeque<(u64, State)>,
    plan: ActionPlan,
    seen: Seen,
}

/// Visits every reachable state. Panics with the sequence of events that leads to a violated invariant.
pub fn explore(setup: &Setup) -> Seen {
    let start = setup.start();
    let key = start.key(setup.jobset_lags);
    let mut walk = Walk {
        setup,
        known: BTreeMap::from([(key, Node::default())]),
        left: VecDeque::from([(key, start)]),
        plan: ActionPlan::default(),
        seen: Seen::default(),
    };
    while let Some((key, state)) = walk.left.pop_front() {
        let visited = walk.visit(key, &state);
        visited.unwrap_or_else(|e| panic!("{}: {e}\n{}", setup.name, walk.event_path(key)));
    }
    walk.check_helpful_events_end();
    walk.seen.states = walk.known.len();
    walk.seen
}

impl Walk<'_> {
    fn visit(&mut self, key: u64, state: &State) -> Result<(), String> {
        invariants::check_state(self.setup, state)?;
        let mut helped = None;
        for event in possible_events(self.setup, state) {
            let next = state_after(self.setup, state, event, &mut self.plan);
            let next = next.and_then(|next| invariants::check_transition(self.setup, state, &next).map(|()| next));
            let next = next.map_err(|e| format!("{e}, at {event:?}"))?;
            let to = next.key(self.setup.jobset_lags);
            if helped.is_none() && to != key && event.is_helpful() {
                helped = Some((to, event));
            }
            self.known.entry(to).or_insert_with(|| {
                self.left.push_back((to, next));
                let from = Some((key, event));
                Node { from, helped: None }
            });
        }
        if helped.is_none() {
            let end = crate::invariants::terminal_condition(&state.js.status);
            self.seen.finished.extend(end);
            self.seen.dead_ends.extend(blocked::blocked_reason(self.setup, state)?);
        }
        self.known.entry(key).and_modify(|node| node.helped = helped);
        Ok(())
    }

    /// Checks that the helpful events of every state end and never form a loop.
    fn check_helpful_events_end(&self) {
        let mut good: BTreeSet<u64> = BTreeSet::new();
        for &start in self.known.keys() {
            let (mut path, mut events, mut at) = (BTreeSet::new(), Vec::new(), start);
            while let Some((to, event)) = self.known[&at].helped.filter(|_| !good.contains(&at)) {
                if !path.insert(at) {
                    let way = self.event_path(start);
                    panic!("{}: the helpful events form a loop\n{way}, then {events:?}", self.setup.name);
                }
                events.push(event);
                at = to;
            }
            good.extend(path);
            good.insert(at);
        }
    }

    /// Returns the events that lead to a state.
    fn event_path(&self, mut key: u64) -> String {
        let mut events = Vec::new();
        while let Some((from, event)) = self.known[&key].from {
            events.push(format!("{event:?}"));
            key = from;
        }
        events.reverse();
        events.join(", ")
    }
}
