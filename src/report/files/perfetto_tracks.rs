//! Packets of a Perfetto trace: track descriptors, slices, instants and counters.

use super::proto::ProtoMessage;
use sim_base::SimTime;

#[derive(Copy, Clone, PartialEq, Eq)]
pub enum TrackKind {
    Events,
    Counter,
}

/// Id of the only packet sequence.
const SEQUENCE: u64 = 1;
/// `SEQ_INCREMENTAL_STATE_CLEARED`, set on the first packet.
const CLEARED: u64 = 1;

#[derive(Default)]
pub struct TraceTracks {
    trace: ProtoMessage,
    declared: u64,
    packets: u64,
}

impl TraceTracks {
    /// Declares a track below `parent`, or a root track if `parent` is 0. Returns its UUID.
    pub fn declare(&mut self, parent: u64, name: &str, kind: TrackKind) -> u64 {
        self.declared += 1;
        let uuid = self.declared;
        let mut track = ProtoMessage::default();
        track.number(1, uuid).text(2, name);
        if parent != 0 {
            track.number(5, parent);
        }
        //  Children are ordered by declaration.
        track.number(11, 3).number(12, uuid);
        if kind == TrackKind::Counter {
            let mut counter = ProtoMessage::default();
            counter.number(3, 2);
            track.message(8, &counter);
        }
        let mut packet = ProtoMessage::default();
        packet.message(60, &track);
        self.packet(packet);
        uuid
    }

    /// Writes an event, which must contain its type and its track.
    pub fn event(&mut self, at: SimTime, event: &ProtoMessage) {
        let mut packet = ProtoMessage::default();
        packet.number(8, at.0).message(11, event);
        self.packet(packet);
    }

    pub fn begin(&mut self, track: u64, name: &str, at: SimTime) {
        let mut event = ProtoMessage::default();
        event.number(9, 1).number(11, track).text(23, name);
        self.event(at, &event);
    }

    pub fn end(&mut self, track: u64, at: SimTime) {
        let mut event = ProtoMessage::default();
        event.number(9, 2).number(11, track);
        self.event(at, &event);
    }

    pub fn counter_value(&mut self, track: u64, value: u64, at: SimTime) {
        let mut event = ProtoMessage::default();
        event.number(9, 4).number(11, track).number(30, value);
        self.event(at, &event);
    }

    fn packet(&mut self, mut packet: ProtoMessage) {
        packet.number(10, SEQUENCE);
        if self.packets == 0 {
            packet.number(13, CLEARED);
        }
        self.packets += 1;
        self.trace.message(1, &packet);
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.trace.into_bytes()
    }
}
