//! Size limit of stored objects.

use super::field::{FieldError, Kind};
use serde_json::Value;
use std::io::{self, Write};

/// Maximum size in bytes: DefaultMaxRequestBytes in etcd's `server/embed/config.go`. Custom resources are stored as
/// JSON.
const STORED_MAX: usize = 3 << 19;
/// Error message of etcd, which the API server returns unchanged.
pub const REFUSAL: &str = "etcdserver: request is too large";

/// Writer that counts bytes.
struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns an error if the object is too large for etcd.
pub fn error(object: &Value) -> Option<FieldError> {
    let mut counter = Counter(0);
    let written = serde_json::to_writer(&mut counter, object);
    let size = counter.0;
    let message = format!(
        "this object is too large: {size} bytes with its defaults; etcd stores at most {STORED_MAX}"
    );
    let too_large = written.is_err() || size > STORED_MAX;
    too_large.then(|| FieldError::new("", Kind::Internal, message))
}
