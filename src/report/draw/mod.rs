//! Drawing: scenes of shapes and text, written as SVG and PNG.

pub(crate) mod bitmap;
pub mod chart;
pub(crate) mod colors;
pub(crate) mod heading;
#[cfg(feature = "png")]
pub(crate) mod png;
pub mod scene;
pub mod svg;
pub(crate) mod time_axis;
