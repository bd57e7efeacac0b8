//! Tests of topology-aware scheduling.
