//! Exact statistics of small samples: quantiles, confidence intervals, differences, tests, and required sample sizes.
//! Numbers only: must never format a number or know what was measured.

#![deny(missing_docs)]

pub mod beta;
pub mod binomial;
pub mod counts;
pub mod estimate;
pub mod lambert;
pub mod normal;
pub mod paired;
pub mod proportion;
pub mod quantile;
pub mod sequential;
pub mod student;
pub mod warnings;
pub mod wilcoxon;

pub use binomial::{SignTest, quantile_interval, sign_test, values_for_quantile_interval};
pub use counts::{negative_binomial_cdf, poisson_cdf, poisson_sf};
pub use estimate::{MeanEstimate, SampleKind, mean_interval};
pub use lambert::lambert_w0;
pub use paired::{PairedDifference, any_pair_error};
pub use proportion::{proportion_interval, share_difference_interval, share_interval};
pub use quantile::{quantile, sorted};
pub use sequential::{InterimLook, InterimLooks, PlannedLooks, TargetPrecision, planned_looks};
pub use student::{StudentMean, t_quantile};
pub use warnings::{StatisticalWarning, statistical_warnings};
pub use wilcoxon::{WilcoxonTest, wilcoxon};
