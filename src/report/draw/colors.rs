//! The colors of pod states, phases, accelerator activities and variants. A color has the same meaning in all charts.

use super::scene::{PALETTE, Rgb, TEXT_COLOR};
use sim_analysis::metrics::Phase;
use sim_analysis::metrics::node_states::NodeState;
use sim_analysis::metrics::occupancy::OccupancyState;
use sim_engine::record::LedgerCategory;

const GRAY: Rgb = PALETTE[0];
/// Distinct from green for all forms of color blindness, by its lightness.
const LIGHT_GRAY: Rgb = (196, 196, 196);
const VERMILION: Rgb = PALETTE[1];
const BLUE: Rgb = PALETTE[2];
const SKY: Rgb = PALETTE[3];
const GREEN: Rgb = PALETTE[4];
const YELLOW: Rgb = PALETTE[5];
const PURPLE: Rgb = PALETTE[6];
const ORANGE: Rgb = PALETTE[7];
//  From Tol's muted palette.
const INDIGO: Rgb = (51, 34, 136);
const WINE: Rgb = (136, 34, 85);
const FOREST: Rgb = (17, 119, 51);
const OLIVE: Rgb = (153, 153, 51);
const SAND: Rgb = (221, 204, 119);
/// Waits for capacity, darker than all phases in which something is done.
const CAPACITY_COLOR: Rgb = (82, 60, 110);

/// Returns the color of a pod state.
pub(crate) fn occupancy_color(state: OccupancyState) -> Rgb {
    match state {
        OccupancyState::Ready => GREEN,
        OccupancyState::Starting => SKY,
        OccupancyState::Pending => YELLOW,
        OccupancyState::Down => ORANGE,
        OccupancyState::Ending => VERMILION,
        OccupancyState::Failed => WINE,
        OccupancyState::Succeeded => BLUE,
    }
}

/// Returns the color of a node state: that of its pods, if it has any.
pub(crate) fn node_color(state: NodeState) -> Rgb {
    match state.occupancy() {
        Some(state) => occupancy_color(state),
        None if state == NodeState::Broken => TEXT_COLOR,
        None => super::scene::GRID,
    }
}

/// Returns the color of a phase: that of the pods in it, where they have a state. No two phases share a color.
pub(crate) fn phase_color(phase: Phase) -> Rgb {
    match phase {
        Phase::Detect => GRAY,
        Phase::Terminate => VERMILION,
        Phase::Recreate => BLUE,
        Phase::Queue => SAND,
        Phase::Schedule => YELLOW,
        Phase::Start => SKY,
        Phase::Barrier => OLIVE,
        Phase::Rendezvous => INDIGO,
        Phase::Restore => PURPLE,
        Phase::Redo => ORANGE,
        Phase::Capacity => CAPACITY_COLOR,
    }
}

/// Returns the color of an accelerator activity.
pub(crate) fn category_color(category: LedgerCategory) -> Rgb {
    match category {
        LedgerCategory::Productive => GREEN,
        LedgerCategory::Idle => LIGHT_GRAY,
        LedgerCategory::Starting => SKY,
        LedgerCategory::Waiting => OLIVE,
        LedgerCategory::Terminating => VERMILION,
        LedgerCategory::Unhealthy => TEXT_COLOR,
        LedgerCategory::Initialization => BLUE,
        LedgerCategory::Compile => INDIGO,
        LedgerCategory::Restore => PURPLE,
        LedgerCategory::Checkpoint => YELLOW,
        LedgerCategory::Lost => WINE,
        LedgerCategory::WarmUp => FOREST,
        LedgerCategory::Slow => ORANGE,
        LedgerCategory::Hang => (148, 103, 75),
        LedgerCategory::Reinitialization => (136, 204, 238),
        LedgerCategory::Degraded => SAND,
        LedgerCategory::Communication => (170, 68, 153),
    }
}

/// Returns the color of the `i`th variant or series. The colors repeat.
pub(crate) fn variant_color(i: usize) -> Rgb {
    const COLORS: [Rgb; 12] = [BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GRAY, YELLOW, INDIGO, WINE, OLIVE, FOREST];
    COLORS[i % COLORS.len()]
}
