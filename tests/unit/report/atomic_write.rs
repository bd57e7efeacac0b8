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

#[test]
fn a_file_that_another_process_is_writing_is_not_overwritten() {
    let dir = std::env::temp_dir().join(format!("shared-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let (target, other) = (dir.join("a.svg"), dir.join(".partial-0-a.svg"));
    fs::write(&other, b"other").unwrap();
    write_with(&target, |path| {
        assert_eq!(path.extension().unwrap(), "svg");
        fs::write(path, b"own")
    })
    .unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"own");
    assert_eq!(fs::read(&other).unwrap(), b"other");
    fs::remove_dir_all(dir).unwrap();
}
