//! Unit tests of `sim_analysis::sweep::points`.

use super::*;

fn grid(path: &str, values: &[&str]) -> SweepAxis {
    let target = SweepTarget::Values(values.iter().map(|v| (*v).to_owned()).collect());
    let path = path.to_owned();
    SweepAxis { path, target, is_uncertain: false }
}

fn range(path: &str, low: &str, high: &str, log: bool) -> SweepAxis {
    let (low, high) = (low.to_owned(), high.to_owned());
    let path = path.to_owned();
    let target = SweepTarget::Range { low, high, log };
    SweepAxis { path, target, is_uncertain: false }
}

fn points(axes: Vec<SweepAxis>, hypercube: Option<u64>) -> Result<SweepPoints, SweepPointsError> {
    SweepPoints::expand(&SweepSpec { axes, hypercube }, 7)
}

#[test]
fn a_grid_has_every_combination_and_its_last_axis_changes_fastest() {
    let axes = vec![grid("parameters.a", &["1", "2"]), grid("b", &["x", "y", "z"])];
    let points = points(axes, None).unwrap();
    assert_eq!(points.count(), 6);
    let names: Vec<String> = (0..6).map(|i| points.name(i)).collect();
    assert_eq!(names[..4], ["a=1, b=x", "a=1, b=y", "a=1, b=z", "a=2, b=x"]);
    assert_eq!(points.indexes(5), [1, 2]);
    let set = |p: &str, v: &str| (p.to_owned(), v.to_owned());
    assert_eq!(points.sets(5), [set("parameters.a", "2"), set("b", "z")]);
}

#[test]
fn a_hypercube_has_one_value_in_each_part_of_each_range() {
    let axes = vec![range("a", "0", "7", false), range("b", "0.0", "8", false)];
    let points = points(axes, Some(8)).unwrap();
    for axis in 0..2 {
        let value = |i| points.values(i)[axis].parse::<f64>().unwrap().floor() as u32;
        let mut parts: Vec<u32> = (0..8).map(value).collect();
        assert_ne!(parts, [0, 1, 2, 3, 4, 5, 6, 7], "in random order");
        parts.sort_unstable();
        assert_eq!(parts, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
    let again = SweepPoints::expand(&SweepSpec { axes: points.axes.clone(), hypercube: Some(8) }, 7);
    assert_eq!(again.unwrap(), points);
    let crossed = vec![range("a", "1", "9", true), grid("c", &["x", "y"])];
    let crossed = super::SweepPoints::expand(&SweepSpec { axes: crossed, hypercube: Some(5) }, 7).unwrap();
    assert_eq!(crossed.count(), 10);
    assert_eq!(crossed.values(0)[0], crossed.values(5)[0]);
}

#[test]
fn axes_that_contradict_each_other_and_absurd_numbers_are_rejected() {
    let many: Vec<String> = (0..200).map(|i| i.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (axes, hypercube, part) in [
        (vec![], None, "nothing to vary"),
        (vec![grid("a[0].b", &["1"]), grid("a.0.b", &["2"])], None, "two axes vary"),
        (vec![grid("a.b", &["1"]), grid("a", &["2"])], None, "a.b is a field inside a"),
        (vec![grid("a", &["2"]), grid("a.b", &["1"])], None, "a.b is a field inside a"),
        (vec![grid("a", &["1", "2", "1"])], None, "the value 1 twice"),
        (vec![grid("a", &[])], None, "no value"),
        (vec![grid("", &["1"])], None, "not the path of a field"),
        (vec![grid("a", &many), grid("b", &many)], None, "200 x 200 = 40000"),
        (vec![range("a", "1", "9", false)], None, "--lhs"),
        (vec![range("a", "1", "9", false)], Some(0), "at least 1 point"),
        (vec![range("a", "1", "9", false)], Some(u64::MAX), "at most 20000"),
        (vec![range("a", "0", "9", true)], Some(4), "a: the logarithmic range 0..9"),
        (vec![grid("a", &["1"])], Some(4), "requires a range"),
    ] {
        let error = points(axes, hypercube).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
