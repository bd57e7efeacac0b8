//! The binary: everything is in the library.

fn main() -> std::process::ExitCode {
    jobset_sim::cli::main()
}
