//! Entry point of the program; all functionality is in the library.

fn main() -> std::process::ExitCode {
    jobset_sim::cli::main()
}
