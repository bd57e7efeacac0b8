//! Tests of `sim_report::planning::number`.

use sim_report::planning::number::*;
#[test]
fn numbers_have_the_digits_that_can_be_used() {
    let all = [0.0, 12345.6, 81.24, 3.0, 0.9061, 1.5e-6, -123.4];
    let text = ["0", "12,346", "81.2", "3", "0.9061", "1.50e-6", "-123"];
    assert_eq!(all.map(short_value), text);
    assert_eq!(change_with_interval(0.00423, [0.000722, 0.0083]), "+0.0042 (0.0007 to 0.0083)");
    assert_eq!(change_with_interval(-512.3, [-640.0, -380.0]), "-512 (-640 to -380)");
    let all = [0.0, 1.0, 0.43, 0.9987, 0.999_99, 0.999_999_9, 1e-6];
    let text = ["0 %", "100 %", "43.0 %", "99.87 %", "99.9990 %", "nearly 100 %", "1.00e-6"];
    assert_eq!(all.map(percent), text);
}
