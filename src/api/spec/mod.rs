//! Input of a run as plain data, validated and with defaults applied. No I/O, no run-specific ids, no YAML.

pub mod cluster;
pub mod control_plane;
pub mod decode_error;
pub mod experiment;
pub mod fault_process;
pub mod fleet;
pub mod job;
pub mod jobset;
pub mod keys;
pub mod node_affinity;
pub mod node_numbers;
pub mod node_ref;
pub mod objects;
pub mod pod;
pub mod request;
pub mod scenario;
pub mod timing;
pub mod training;

pub use cluster::*;
pub use control_plane::*;
pub use decode_error::ObjectDecodeError;
pub use experiment::*;
pub use fault_process::*;
pub use fleet::*;
pub use job::*;
pub use jobset::*;
pub use node_affinity::*;
pub use node_numbers::NodeNumbers;
pub use node_ref::*;
pub use objects::*;
pub use pod::*;
pub use request::*;
pub use scenario::*;
pub use timing::*;
pub use training::*;
