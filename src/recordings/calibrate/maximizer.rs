//! Maximizes a function of two variables and computes profile-likelihood intervals.
//!
//! Uses the simplex method of Nelder and Mead (The Computer Journal 7, 1965) from one start with a fixed number of
//! steps, so that the result is the same on every machine.

const MAX_STEPS: usize = 300;

/// Returns the point at which `f` is highest. The search begins at `start` with a first step `step` in each direction.
pub fn maximize(f: &dyn Fn([f64; 2]) -> f64, start: [f64; 2], step: [f64; 2]) -> [f64; 2] {
    let value = |at: [f64; 2]| {
        let v = f(at);
        if v.is_finite() { v } else { f64::MIN }
    };
    let point = |at: [f64; 2]| (value(at), at);
    let mut simplex = [point(start), point([start[0] + step[0], start[1]]), point([start[0], start[1] + step[1]])];
    for _ in 0..MAX_STEPS {
        simplex.sort_by(|a, b| b.0.total_cmp(&a.0));
        let [best, good, worst] = simplex;
        let middle = point_between(best.1, good.1, 0.5);
        let reflected = point(point_between(worst.1, middle, 2.0));
        simplex[2] = if reflected.0 > best.0 {
            let farther = point(point_between(worst.1, middle, 3.0));
            if farther.0 > reflected.0 { farther } else { reflected }
        } else if reflected.0 > good.0 {
            reflected
        } else {
            let nearer = point(point_between(worst.1, middle, 0.5));
            if nearer.0 > worst.0 {
                nearer
            } else {
                simplex[1] = point(point_between(best.1, good.1, 0.5));
                point(point_between(best.1, worst.1, 0.5))
            }
        };
    }
    simplex.sort_by(|a, b| b.0.total_cmp(&a.0));
    simplex[0].1
}

/// Returns the point on the line through `from` and `to` at `by` times their distance from `from`.
fn point_between(from: [f64; 2], to: [f64; 2], by: f64) -> [f64; 2] {
    [from[0] + by * (to[0] - from[0]), from[1] + by * (to[1] - from[1])]
}

/// Half the 95 % quantile of the chi-square distribution with one degree of freedom: the largest drop of the profile
/// log-likelihood inside the 95 % interval.
const PROFILE_DROP: f64 = 1.920_729_410_347_062;

/// Returns the profile interval of variable `which`: the range in which `f`, maximized over the other variable, is
/// at most `PROFILE_DROP` below its maximum.
pub fn profile_interval(f: &dyn Fn([f64; 2]) -> f64, top: [f64; 2], which: usize, scale: f64) -> [f64; 2] {
    let at_top = f(top);
    let other = 1 - which;
    let height = |x: f64| {
        let along = |y: f64| {
            let mut at = top;
            (at[which], at[other]) = (x, y);
            let v = f(at);
            if v.is_finite() { v } else { f64::MIN }
        };
        golden_section_maximum(&along, top[other])
    };
    let side = |sign: f64| {
        let (mut inside, mut outside) = (0.0, scale);
        for _ in 0..40 {
            if at_top - height(top[which] + sign * outside) > PROFILE_DROP {
                break;
            }
            inside = outside;
            outside *= 2.0;
        }
        for _ in 0..40 {
            let middle = 0.5 * (inside + outside);
            if at_top - height(top[which] + sign * middle) > PROFILE_DROP { outside = middle } else { inside = middle }
        }
        top[which] + sign * inside
    };
    [side(-1.0), side(1.0)]
}

/// Returns the maximum of `f` near a point, by golden-section search. The searched interval extends by the absolute
/// value of `near` (at least 0.05) to each side.
fn golden_section_maximum(f: &dyn Fn(f64) -> f64, near: f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_8;
    let reach = near.abs().max(0.05);
    let (mut low, mut high) = (near - reach, near + reach);
    for _ in 0..40 {
        let (a, b) = (high - RATIO * (high - low), low + RATIO * (high - low));
        if f(a) > f(b) { high = b } else { low = a }
    }
    f(0.5 * (low + high))
}
