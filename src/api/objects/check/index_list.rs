//! Lists of completion indexes such as `0,2-5`, with the errors of the API server.

use crate::admission::field::go_quote;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexListError {
    /// An index is not a 32-bit integer.
    NotInteger { index: String },
    /// An interval has more than two parts.
    TooManyParts { interval: String },
    /// An index is not larger than the one before.
    NotIncreasing { previous: i64, current: i64 },
    /// An index is not smaller than the number of completions.
    TooLarge { index: String },
}

impl fmt::Display for IndexListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexListError::NotInteger { index } => {
                write!(f, "cannot convert string to integer for index: {}", go_quote(index))
            }
            IndexListError::TooManyParts { interval } => write!(
                f,
                "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
                go_quote(interval)
            ),
            IndexListError::NotIncreasing { previous, current } => {
                write!(f, "non-increasing order, previous: {previous}, current: {current}")
            }
            IndexListError::TooLarge { index } => {
                write!(f, "too large index: {}", go_quote(index))
            }
        }
    }
}

impl std::error::Error for IndexListError {}

fn parse_index(text: &str) -> Result<i64, IndexListError> {
    match text.parse::<i32>() {
        Ok(index) => Ok(i64::from(index)),
        Err(_) => Err(IndexListError::NotInteger { index: text.to_owned() }),
    }
}

/// Returns the number of indexes in a text such as `0,2-5`.
pub fn count_indexes(text: &str, completions: i64) -> Result<i64, IndexListError> {
    if text.is_empty() {
        return Ok(0);
    }
    let too_large = |index: &str| IndexListError::TooLarge { index: index.to_owned() };
    let (mut total, mut last) = (0, None);
    for interval in text.split(',') {
        let limits: Vec<&str> = interval.split('-').collect();
        if limits.len() > 2 {
            let interval = interval.to_owned();
            return Err(IndexListError::TooManyParts { interval });
        }
        let first = parse_index(limits[0])?;
        if let Some(previous) = last.filter(|last| *last >= first) {
            return Err(IndexListError::NotIncreasing { previous, current: first });
        }
        if first >= completions {
            return Err(too_large(limits[0]));
        }
        let end = match limits.get(1) {
            None => first,
            Some(end) => parse_index(end)?,
        };
        if limits.len() > 1 && end >= completions {
            return Err(too_large(limits[1]));
        }
        if limits.len() > 1 && first >= end {
            return Err(IndexListError::NotIncreasing { previous: first, current: end });
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}
