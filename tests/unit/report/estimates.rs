//! Tests of `sim_report::estimates`.

use sim_report::console::waterfall::WaterfallStyle;
use sim_report::estimates::*;
fn rendered_table(name: &str, number: &str) -> Vec<String> {
    let mut table = EstimateFormat::new(&["", "n", "p10", "mean"], [22, 5, 9]);
    let cells = [name, "100", number, number, "1 to 2"];
    table.row(cells.map(str::to_owned).to_vec());
    table.text("no number".to_owned());
    let mut out = String::new();
    table.write(&mut out, &WaterfallStyle { width: 80, ..WaterfallStyle::default() });
    out.lines().map(str::to_owned).collect()
}

#[test]
fn columns_are_roomy_where_there_is_room_and_tight_where_there_is_none() {
    let roomy = rendered_table("restart 1", "1.00 s");
    assert_eq!(roomy[1], "  restart 1                100    1.00 s    1.00 s   1 to 2");
    assert!(roomy[0].ends_with("   95 % interval of the mean"));
    let long = rendered_table("a name that is longer than any other", "1.00 s");
    assert!(long.iter().all(|l| l.chars().count() <= 80), "{long:?}");
    assert!(long[0].ends_with("   95 % interval"));
}
