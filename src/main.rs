use clap::Parser;
#[derive(Parser)]
struct P { #[command(flatten)] a: jobset_sim::validate::Args }
fn main(){ let p = P::parse(); std::process::exit(i32::from(jobset_sim::validate::run(&p.a))) }
