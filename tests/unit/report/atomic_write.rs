//! Tests of `sim_report::atomic_write`.

use sim_report::atomic_write::*;
use std::fs;
use std::io;
#[test]
fn a_file_that_cannot_be_written_leaves_what_was_there() {
    let dir = std::env::temp_dir().join(format!("whole-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let file = dir.join("a.svg");
    write(&file, b"before").unwrap();
    let failed = write_with(&file, |path| {
        fs::write(path, b"half").unwrap();
        Err(io::Error::other("the disk is full"))
    });
    assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
    assert_eq!(fs::read(&file).unwrap(), b"before");
    write(&file, b"after").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"after");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    fs::remove_dir_all(dir).unwrap();
}
