//! Unit tests of `sim_report::table`.

use super::*;

fn table() -> Table {
    let columns = [TableColumn::new("name", "", "a | name"), TableColumn::new("total", "s", "total duration")];
    let mut table = Table::new(columns);
    table.push(["=a|b", "1.5"]);
    table.push(["<c>", ""]);
    table
}

#[test]
fn all_formats_have_equal_escaped_cells() {
    assert_eq!(table().csv(), b"name,total\n'=a|b,1.5\n<c>,\n");
    let markdown = "| name | total |\n|---|---:|\n| =a\\|b | 1.5 |\n| &lt;c> |  |\n";
    assert_eq!(table().markdown(), markdown);
    let json = r#"[{"name":"=a|b","total":1.5},{"name":"<c>","total":null}]"#;
    assert_eq!(table().json().to_string(), json);
    let mut html = String::new();
    write_html(&mut html, &table());
    assert!(html.contains("<td>&lt;c&gt;</td>") && html.contains("<th scope=\"col\" class=\"n\">total</th>"), "{html}");
    let text = table().text(|row| row == 0, "  <", 100).concat();
    assert_eq!(text, ["  name   total", "  =a|b     1.5  <", "  <c>"]);
}

#[test]
fn text_tables_wrap_their_widest_cells_on_narrow_lines() {
    let mut table = Table::new(["metric", "verdict", "n"]);
    table.push(["goodput", "better than the baseline", "20"]);
    let lines = |room| table.text(|_| false, "", room).concat();
    assert_eq!(lines(50), ["  metric                     verdict    n", "  goodput   better than the baseline   20"]);
    assert_eq!(lines(37), ["  metric                   verdict  n", "  goodput better than the baseline 20"]);
    assert_eq!(lines(26), ["  metric        verdict  n", "  goodput   better than 20", "           the baseline"]);
    assert_eq!(lines(24), ["  metric: goodput", "    verdict: better than the baseline", "    n: 20"]);
    let mut table = Table::new(["n", "effective_training_ratio.p10"]);
    table.push(["20", "0.97"]);
    let lines = table.text(|_| false, "", 16).concat();
    assert_eq!(lines, ["  n   effective_", "       training_", "       ratio.p10", "  20        0.97"]);
}

#[test]
fn markdown_cells_keep_their_markup_but_not_the_end_of_the_cell() {
    let table = Table::new(["a", "b"]).with_markdown_columns(&[1]).with_rows([vec!["`x`|".into(), "`x`|\ny".into()]]);
    assert!(table.markdown().ends_with("| \\`x\\`\\| | `x`\\| y |\n"), "{}", table.markdown());
}

#[test]
fn columns_in_which_every_cell_is_empty_or_zero_are_left_out_on_request() {
    let mut table = Table::new(["a", "b", "c"]);
    assert_eq!(table.without_empty_columns(), table);
    table.push(["1", "0", ""]);
    table.push(["2", "", "0"]);
    assert_eq!(table.without_empty_columns().csv(), b"a\n1\n2\n");
}
