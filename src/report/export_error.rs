//! Errors of writing content to a file.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// The reason why content cannot be written. The path is not included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportError {
    /// No exporter of the content writes files with this extension.
    UnsupportedFormat {
        /// Kind of the content, with its article.
        subject: &'static str,
        supported: Vec<FormatName>,
    },
    /// The program was built without the feature `png`.
    PngDisabled,
    InvalidFont,
    Rasterization {
        reason: String,
    },
    Serialization {
        reason: String,
    },
    Io {
        reason: String,
    },
}

/// Name and file extensions of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatName {
    pub name: &'static str,
    pub extensions: &'static [&'static str],
}

impl fmt::Display for FormatName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (.{})", self.name, self.extensions.join(", ."))
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::UnsupportedFormat { subject, supported } => {
                let known: Vec<String> = supported.iter().map(FormatName::to_string).collect();
                let known = known.join(" or ");
                write!(f, "unsupported file extension for {subject}; use {known}")
            }
            ExportError::PngDisabled => f.write_str("PNG is not supported by this build (feature `png`); use .svg"),
            ExportError::InvalidFont => f.write_str("the bundled font cannot be read"),
            ExportError::Rasterization { reason }
            | ExportError::Serialization { reason }
            | ExportError::Io { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for ExportError {}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> ExportError {
        ExportError::Io { reason: error.to_string() }
    }
}

/// The failure to write the file at `path`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportFileError {
    pub path: PathBuf,
    pub cause: ExportError,
}

impl fmt::Display for ExportFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write {}: {}", self.path.display(), self.cause)
    }
}

impl std::error::Error for ExportFileError {}
