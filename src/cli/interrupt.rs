//! Ctrl-C (INT) and TERM: runs end soon, what is finished is kept, nothing partial stays behind.

use super::{Failure, output};
use crate::experiment::{Limits, StopFlag};

/// What the shell gives a program that INT has ended.
pub const EXIT_CODE: u8 = 130;

/// Limits of runs that end when the user wants them to. A second signal ends the program at once.
pub fn limits() -> Limits {
    let limits = Limits::none();
    let flag = limits.flag.clone();
    let told = ctrlc::set_handler(move || on_signal(&flag));
    if let Err(why) = told {
        output::notice(&format!("Ctrl-C will end the program at once: {why}"));
    }
    limits
}

fn on_signal(flag: &StopFlag) {
    if flag.is_raised() {
        std::process::exit(i32::from(EXIT_CODE));
    }
    flag.raise();
}

/// What is finished; the command ends in this unless all of it is.
pub fn failure(finished: &str) -> Failure {
    Failure::Interrupted(format!("interrupted; {finished}"))
}
