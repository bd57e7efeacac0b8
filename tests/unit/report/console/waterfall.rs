//! Tests of `sim_report::console::waterfall`.

use sim_base::*;
use sim_report::console::waterfall::*;
#[test]
fn bars_of_consecutive_steps_cover_the_width_without_gaps_and_short_ones_are_seen() {
    let style = WaterfallStyle::default();
    let s = Duration::from_secs;
    assert_eq!(style.bar(s(0), s(5), s(10), 10), "█████     ");
    assert_eq!(style.bar(s(5), s(10), s(10), 10), "     █████");
    assert_eq!(style.bar(s(0), Duration(1), s(10), 10), "▏         ");
    assert_eq!(style.bar(s(10), s(10), s(10), 10), "         ▕");
    let ascii = WaterfallStyle { unicode: false, ..style };
    assert_eq!(ascii.bar(s(2), s(5), s(10), 10), "  ###     ");
}
