//! Size limit of stored objects.

use super::field::{FieldError, FieldErrorKind};
use serde_json::Value;
use std::io::{self, Write};

/// Maximum size in bytes: DefaultMaxRequestBytes in etcd's `server/embed/config.go`. Custom resources are stored as
/// JSON.
const STORED_MAX: usize = 3 << 19;
/// Error message of etcd, which the API server returns unchanged.
pub const TOO_LARGE_MESSAGE: &str = "etcdserver: request is too large";

/// Writer that counts bytes.
struct SizeCounter(usize);

impl Write for SizeCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns an error if the object is too large for etcd.
pub fn size_error(object: &Value) -> Option<FieldError> {
    let mut counter = SizeCounter(0);
    let written = serde_json::to_writer(&mut counter, object);
    let size = counter.0;
    let message = format!("this object is too large: {size} bytes with its defaults; etcd stores at most {STORED_MAX}");
    let too_large = written.is_err() || size > STORED_MAX;
    too_large.then(|| FieldError::new("", FieldErrorKind::Internal, message))
}
