//! Errors of reading a file as text.

use super::diagnostic::Diagnostic;
use std::fmt;

/// Maximum size of a text in bytes. A dump of 50,000 nodes is smaller.
pub const TEXT_MAX: u64 = 100 << 20;

/// An error of reading the text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileTextError {
    /// The caller provides no files.
    NotProvided,
    /// The caller's function for files returned an error, with this reason.
    Loader { reason: String },
    /// The operating system returned an error.
    Unreadable { reason: String },
    /// The file has more bytes than the limit.
    TooLarge { bytes: u64, limit: u64 },
    /// The byte at the offset is not valid UTF-8.
    NotUtf8 { offset: usize, byte: u8 },
}

impl FileTextError {
    /// Returns the error as one about a whole file.
    pub fn in_file(&self, file: &str) -> Diagnostic {
        let mut error = Diagnostic::of_file(file, self.to_string());
        if let FileTextError::TooLarge { limit, .. } = self {
            error.legal(format!("at most {} MiB", limit >> 20));
        }
        error
    }
}

impl fmt::Display for FileTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileTextError::NotProvided => f.write_str("cannot be read"),
            FileTextError::Loader { reason } => f.write_str(reason),
            FileTextError::Unreadable { reason } => write!(f, "cannot be read: {reason}"),
            FileTextError::TooLarge { bytes, .. } => {
                write!(f, "the file is too large: {} MiB", bytes >> 20)
            }
            FileTextError::NotUtf8 { offset, byte } => {
                write!(f, "not a text file: byte {offset} (0x{byte:02x}) is not UTF-8")
            }
        }
    }
}

impl std::error::Error for FileTextError {}

impl From<std::io::Error> for FileTextError {
    fn from(error: std::io::Error) -> FileTextError {
        FileTextError::Unreadable { reason: error.to_string() }
    }
}
