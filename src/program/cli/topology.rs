//! `topology show`, `list`, `check`, `import` and `fit`: cluster topologies as tables and JSON, their import from
//! Nodes, and the placement of JobSets on them.

mod blast;
mod dot;
mod place;

use crate::cli::failure::{CommandFailure, bail};
use crate::{cli::args::OutputFormat, cli::inputs::experiment_input, cli::output, cli::recording::import::new_file};
use clap::ValueEnum;
use serde_json::{Value, json};
use sim_analysis::format::{count, thousands};
use sim_api::spec::{AcceleratorPrice, Interconnect, IslandKind, NodePool, TopologySpec};
use sim_base::Duration;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct TopologyArgs {
    #[command(subcommand)]
    pub command: TopologyCommand,
}

#[derive(Debug, clap::Subcommand)]
pub enum TopologyCommand {
    /// Show the pools of a topology and their totals
    #[command(after_help = "Example: jobset-sim topology show topologies/tpu-5000.yaml")]
    Show {
        /// Topology file, or name of a shipped topology
        #[arg(value_name = "TOPOLOGY")]
        file: PathBuf,
        /// Place the JobSets of a manifest, and show the domains they use and the nodes they leave free (repeatable)
        #[arg(long, value_name = "FILE|DIR|-", conflicts_with = "blast")]
        place: Vec<String>,
        /// Show the JobSets and accelerators that the loss of each failure domain stops, and the simulated restart time
        #[arg(long, requires = "manifests")]
        blast: bool,
        /// Manifests for --blast: a file, a directory, or - for standard input (repeatable)
        #[arg(short = 'f', value_name = "FILE|DIR|-", requires = "blast")]
        manifests: Vec<String>,
        /// Time from the crash of a node to the deletion of its Node object by the cloud provider; the machine does not
        /// return
        #[arg(long, value_name = "TIME", default_value = "10m", requires = "blast")]
        deleted_after: Duration,
        #[arg(long, value_enum, default_value_t = ShowFormat::Text)]
        format: ShowFormat,
    },
    /// Count the copies of JobSets that fit on a cluster, by simulation; exit code 4 if none fits
    #[command(after_help = "Example: jobset-sim topology fit tpu-18x16 -f jobset.yaml")]
    Fit(place::FitArgs),
    /// Convert a list of Nodes into a topology file
    #[command(
        after_help = "Example: kubectl get nodes -o yaml | jobset-sim topology import - --name prod --out prod.yaml"
    )]
    Import {
        /// Output of `kubectl get nodes -o yaml` or `-o json`: a file, or - for standard input
        #[arg(value_name = "FILE|-")]
        file: String,
        /// Name of the topology
        #[arg(long, default_value = "imported")]
        name: String,
        /// Write the topology to this new file instead of standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Check a topology file; prints its errors, or its number of nodes
    #[command(after_help = "Example: jobset-sim topology check my-cluster.yaml")]
    Check {
        /// Topology file, or name of a shipped topology
        #[arg(value_name = "TOPOLOGY")]
        file: PathBuf,
        #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
        format: OutputFormat,
    },
    /// List the shipped topologies
    #[command(after_help = "Example: jobset-sim topology list")]
    List {
        #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
        format: OutputFormat,
    },
}

/// Output formats of `topology show`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    Text,
    Json,
    /// The links as a graph for Graphviz
    Dot,
}

impl ShowFormat {
    /// Returns the format of a placement, which is not a graph.
    fn of_placement(self) -> Result<OutputFormat, CommandFailure> {
        match self {
            ShowFormat::Text => Ok(OutputFormat::Text),
            ShowFormat::Json => Ok(OutputFormat::Json),
            ShowFormat::Dot => bail!("--format dot shows a topology: remove --place and --blast"),
        }
    }
}

pub fn cli(args: &TopologyArgs) -> Result<(), CommandFailure> {
    match &args.command {
        TopologyCommand::Fit(args) => place::fit_cli(args),
        TopologyCommand::Show { file, place, format, .. } if !place.is_empty() => {
            place::place_cli(file, place, format.of_placement()?)
        }
        TopologyCommand::Show { file, blast: true, manifests, deleted_after, format, .. } => {
            blast::cli((file, manifests), *deleted_after, format.of_placement()?)
        }
        TopologyCommand::Show { file, format, .. } => {
            let topology = experiment_input::topology(file)?.1;
            match format {
                ShowFormat::Json => output::json(&as_json(&topology)),
                ShowFormat::Text => output::text(&show(&topology)),
                ShowFormat::Dot => output::result(&dot::text(&topology)),
            }
        }
        TopologyCommand::Import { file, name, out } => import(file, name, out.as_deref()),
        TopologyCommand::Check { file, format } => check(&experiment_input::topology(file)?.1, *format),
        TopologyCommand::List { format } => {
            let names = sim_inputs::topology_names().into_iter();
            let read = |name| Ok(experiment_input::topology(Path::new(name))?.1);
            let all = names.map(read).collect::<Result<Vec<TopologySpec>, CommandFailure>>()?;
            match format {
                OutputFormat::Json => output::json(&all.iter().map(as_json).collect::<Vec<_>>()),
                OutputFormat::Text => output::text(&list(&all)),
            }
        }
    }
}

fn check(topology: &TopologySpec, format: OutputFormat) -> Result<(), CommandFailure> {
    let (name, nodes, pools) = (&topology.name, topology.nodes(), topology.pools.len());
    match format {
        OutputFormat::Json => output::json(&json!({"name": name, "nodes": nodes, "pools": pools})),
        OutputFormat::Text => {
            let (nodes, pools) = (count(nodes, "node"), count(pools as u64, "pool"));
            output::result(&format!("{name}: {nodes} in {pools}\n"))
        }
    }
}

/// Converts a list of Nodes into a topology file. Parts that are left out are reported on standard error.
fn import(file: &str, name: &str, out: Option<&Path>) -> Result<(), CommandFailure> {
    let (sources, _) = sim_inputs::manifest_sources(file)?;
    let [source] = sources.as_slice() else {
        bail!("{file}: expected a file with a list of Nodes, not a directory");
    };
    let (topology, notes) = sim_inputs::imported(source, name)?;
    let text = sim_inputs::print_yaml(&sim_inputs::written_topology(&topology));
    for note in notes {
        output::note(&format!("note: {note}"));
    }
    let Some(path) = out else {
        return output::result(&text);
    };
    new_file(path, text.as_bytes())?;
    let nodes = count(topology.nodes(), "node");
    output::notice(&format!("{}: {nodes}", path.display()));
    Ok(())
}

fn as_json(topology: &TopologySpec) -> Value {
    let accelerators: u64 = topology.pools.iter().map(accelerators).sum();
    json!({
        "name": topology.name,
        "nodes": topology.nodes(),
        "accelerators": accelerators,
        "topology": sim_inputs::written_topology(topology),
    })
}

fn list(topologies: &[TopologySpec]) -> String {
    let mut out = String::new();
    for topology in topologies {
        let (name, nodes) = (&topology.name, thousands(topology.nodes()));
        let _ = writeln!(out, "{name:<16} {nodes:>7} nodes  {}", topology.description);
    }
    out
}

fn accelerators(pool: &NodePool) -> u64 {
    let per_node = pool.allocatable.get(&pool.accelerator).map_or(0, |milli| milli / 1000);
    nodes(pool) * per_node.max(0) as u64
}

fn nodes(pool: &NodePool) -> u64 {
    u64::from(pool.count) * u64::from(pool.islands) * u64::from(pool.nodes_per_island)
}

pub fn show(topology: &TopologySpec) -> String {
    let mut out = String::new();
    let total: u64 = topology.pools.iter().map(accelerators).sum();
    let _ = writeln!(out, "{}: {}, {}", topology.name, count(topology.nodes(), "node"), count(total, "accelerator"));
    if !topology.description.is_empty() {
        let _ = writeln!(out, "{}", topology.description);
    }
    let _ = writeln!(
        out,
        "\n{:<24} {:>6} {:>8} {:>13} {:>8} {:>13}  kind",
        "pool", "count", "islands", "nodes/island", "nodes", "accelerators"
    );
    for pool in &topology.pools {
        one_pool(&mut out, pool, &topology.currency);
    }
    for level in &topology.dcn_levels {
        let _ = writeln!(
            out,
            "network level {}: {} Gbit/s per node among nodes with equal {}, oversubscription {}",
            level.name, level.rate.gbits_per_s, level.label, level.oversubscription
        );
    }
    out
}

fn one_pool(out: &mut String, pool: &NodePool, currency: &str) {
    let kind = match pool.island_kind {
        IslandKind::None => "-",
        IslandKind::Ici => "ICI slice",
        IslandKind::NvLink => "NVLink domain",
    };
    let _ = writeln!(
        out,
        "{:<24} {:>6} {:>8} {:>13} {:>8} {:>13}  {kind}",
        pool.name,
        thousands(u64::from(pool.count)),
        thousands(u64::from(pool.islands)),
        thousands(u64::from(pool.nodes_per_island)),
        thousands(nodes(pool)),
        thousands(accelerators(pool)),
    );
    if let Some(links) = &pool.interconnect {
        let _ = writeln!(out, "  links        {}", links_text(links));
    }
    for (key, value) in &pool.labels {
        let _ = writeln!(out, "  label        {key}={value}");
    }
    for taint in &pool.taints {
        let _ = writeln!(out, "  taint        {}={}:{}", taint.key, taint.value, taint.effect.as_str());
    }
    for (name, milli) in &pool.allocatable {
        let _ = writeln!(out, "  allocatable  {name}: {}", *milli as f64 / 1000.0);
    }
    let (micros, of) = match pool.price {
        AcceleratorPrice::PerNode(micros) => (micros, "node"),
        AcceleratorPrice::PerAccelerator(micros) => (micros, "accelerator"),
    };
    if micros > 0 {
        let price = micros as f64 / 1e6;
        let billing = pool.billing.as_str();
        let _ = writeln!(out, "  price        {price} {currency} per {of}-hour, billing {billing}");
    }
}

fn links_text(links: &Interconnect) -> String {
    match links {
        Interconnect::Torus { shape, wrap, rate } => {
            let axis = |(at, chips): (usize, &u32)| match wrap.get(at) {
                Some(true) => format!("{chips} (ring)"),
                _ => chips.to_string(),
            };
            let axes: Vec<String> = shape.iter().enumerate().map(axis).collect();
            format!("torus {}, {} Gbit/s per link", axes.join(" x "), rate.gbits_per_s)
        }
        Interconnect::Switch(rate) => format!("switch, {} Gbit/s per accelerator", rate.gbits_per_s),
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/program/cli/topology.rs"]
mod tests;
