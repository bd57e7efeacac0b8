//! What is wrong with a manifest before it is run: what the API server would refuse, and what it accepts and hurts later.
//!
//! Must never change what is linted, nor know how a finding is printed.
