fn main() -> std::process::ExitCode {
    jobset_sim::cli::main()
}
