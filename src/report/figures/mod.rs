//! Charts: one module per kind of figure, which turns metrics into a scene.

pub mod admission_figure;
pub(crate) mod compare_distribution;
pub mod compare_figure;
pub(crate) mod compare_ledger;
pub(crate) mod compare_panel;
pub(crate) mod compare_steps;
pub(crate) mod compare_time;
pub mod growth_figure;
pub(crate) mod map_colors;
pub mod map_figure;
pub mod nodes_figure;
pub mod restart_figure;
pub mod scaling_figure;
pub mod sweep_figure;
pub mod timeline_figure;
pub mod waterfall_figure;
