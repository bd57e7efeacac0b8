//! Unit tests of `sim_report::console::check_reduced`.

use super::*;

/// Returns replications with `pods` restarts and a goodput of 0.9 at pod level.
fn rows(pods: u32, reduced: &[(u32, f64)]) -> Vec<CheckRow> {
    let side =
        |restarts, goodput| CheckSide { restarts, restarts_count_towards_max: restarts, terminal_state: "", goodput };
    let row = |(replication, &(restarts, goodput))| CheckRow {
        replication,
        pods: side(pods, 0.9),
        reduced: side(restarts, goodput),
        bound: 0.01,
        boundary_cases: 1,
        verdict: if pods == restarts && goodput == 0.9 { ModelAgreement::Equal } else { ModelAgreement::Close },
        parts: None,
    };
    (0..).zip(reduced).map(row).collect()
}

#[test]
fn what_differs_is_reported_on_average_with_an_interval() {
    let all = rows(70, &[(69, 0.901), (71, 0.901), (73, 0.901)]);
    let text = sentence(&differences(&all).unwrap());
    // Student's t with two degrees of freedom: 4.303 × 2 / √3.
    let restarts = "+1.000 restarts (95 % CI -3.968 to +5.968)";
    assert!(text.contains(restarts), "{text}");
    assert!(text.contains("+0.1000 % goodput"), "{text}");
    assert!(differences(&[]).is_none());
}

/// In each check, as many other replications are equal unless stated otherwise.
#[test]
fn close_replications_may_not_be_most_of_them_and_have_to_even_out() {
    let check = |close: [(u32, f64); 4], equal: usize| {
        let all = [&close[..], &vec![(100, 0.9); equal]].concat();
        let replications = rows(100, &all);
        ModelCheck {
            scenario: "some".to_owned(),
            seed: 1,
            measured_plays: 1,
            spread_s: 0.0,
            equal,
            within_bound: 4 + equal,
            close: 4,
            differences: differences(&replications),
            replications,
        }
    };
    let failure = |of| check(of, 4).failure().unwrap_or_default();
    let even = [(98, 0.9), (103, 0.9), (99, 0.9), (102, 0.9)];
    assert_eq!(failure(even), "");
    let most = check(even, 3).failure();
    let output = "the models differ in 4 of 7 replications";
    assert_eq!(most.as_deref(), Some(output));
    let fewer = [(70, 0.9), (71, 0.9), (70, 0.9), (71, 0.9)];
    assert_eq!(failure(fewer), "the models differ on average in restarts");
    let poorer = [(100, 0.6), (100, 0.61), (100, 0.6), (100, 0.61)];
    assert_eq!(failure(poorer), "the models differ on average in goodput");
    let less = [(100, 0.892), (100, 0.893), (100, 0.892), (100, 0.893)];
    assert_eq!(failure(less), "", "by less than the bound");
    let output = check(poorer, 4).text(&WaterfallStyle::default());
    assert!(output.ends_with("This difference does not average out.\n"), "{output}");
}
