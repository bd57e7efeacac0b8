//! The program; everything it does is in the library.

fn main() -> std::process::ExitCode {
    jobset_sim::cli::main()
}
