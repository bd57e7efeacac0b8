//! `topology show`, `list`, `check`, `import` and `fit`: cluster topologies as tables and JSON, their import from
//! Nodes, and the placement of JobSets on them.

mod blast;
mod dot;
mod place;

use crate::cli::args::{FieldOverride, OutputFormat, path_value};
use crate::cli::failure::{CommandFailure, bail};
use crate::{cli::inputs::experiment_input, cli::output, cli::recording::import::new_file};
use clap::ValueEnum;
use serde_json::{Value, json};
use sim_analysis::format::{count, thousands, wrap};
use sim_api::spec::{AcceleratorPrice, IslandKind, NodePool, TopologySpec};
use sim_base::Duration;
use sim_inputs::{ImportRequest, ImportedTopology};
use sim_report::draw::{chart, svg};
use sim_report::figures::topology_figure;
use sim_report::figures::topology_figure::links_text;
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
        /// Override a field of the JobSets or of the topology, e.g. topology.pools[0].count=2 (repeatable)
        #[arg(long = "set", value_name = "PATH=VALUE", value_parser = path_value)]
        sets: Vec<FieldOverride>,
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
        after_help = "Examples:\n  kubectl get nodes -o json | jobset-sim topology import - --name prod --out prod.yaml\n  kubectl get nodes -o json > nodes.json; kubectl get pods -A -o json > pods.json\n  jobset-sim topology import nodes.json --pods pods.json --anonymize --out prod.yaml\n\nThe domains that the labels define are listed in the file and on standard error. JSON is read faster than YAML."
    )]
    Import(TopologyImportArgs),
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

#[derive(Debug, clap::Args)]
pub struct TopologyImportArgs {
    /// Output of `kubectl get nodes -o json` or `-o yaml`: a file, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: String,
    /// Output of `kubectl get pods -A -o json` or `-o yaml`; the running pods occupy their nodes
    #[arg(long, value_name = "FILE")]
    pods: Vec<String>,
    /// Replace the names of nodes, domains, taints and resources
    #[arg(long, alias = "anonymise")]
    anonymize: bool,
    /// Name of the topology
    #[arg(long, default_value = "imported")]
    name: String,
    /// Write the topology to this new file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Output formats of `topology show`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    Text,
    Json,
    /// The links as a graph for Graphviz
    Dot,
    /// A map of the islands as a picture
    Svg,
}

impl ShowFormat {
    /// Returns the format of a placement, which is not a graph.
    fn of_placement(self) -> Result<OutputFormat, CommandFailure> {
        match self {
            ShowFormat::Text => Ok(OutputFormat::Text),
            ShowFormat::Json => Ok(OutputFormat::Json),
            ShowFormat::Dot | ShowFormat::Svg => {
                bail!("--format dot and svg show a topology: remove --place and --blast")
            }
        }
    }
}

pub fn cli(args: &TopologyArgs) -> Result<(), CommandFailure> {
    match &args.command {
        TopologyCommand::Fit(args) => place::fit_cli(args),
        TopologyCommand::Show { file, place, sets, format, .. } if !place.is_empty() => {
            place::place_cli((file, place, sets), format.of_placement()?)
        }
        TopologyCommand::Show { file, blast: true, manifests, sets, deleted_after, format, .. } => {
            blast::cli((file, manifests, sets), *deleted_after, format.of_placement()?)
        }
        TopologyCommand::Show { sets, .. } if !sets.is_empty() => bail!("--set needs --place or --blast"),
        TopologyCommand::Show { file, format, .. } => {
            let topology = experiment_input::topology(file)?.1;
            match format {
                ShowFormat::Json => output::json(&as_json(&topology)),
                ShowFormat::Text => output::text(&show(&topology)),
                ShowFormat::Dot => output::result(&dot::text(&topology)),
                ShowFormat::Svg => output::result(&svg::file(&topology_figure::topology_map(&topology, chart::SLIDE))),
            }
        }
        TopologyCommand::Import(args) => import(args),
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

/// Converts a list of Nodes into a topology file, which starts with the recognized domains. These and the omitted parts
/// are also reported on standard error.
fn import(args: &TopologyImportArgs) -> Result<(), CommandFailure> {
    if Path::new(&args.file).is_dir() {
        bail!("{}: expected a file with a list of Nodes, not a directory", args.file);
    }
    let request = ImportRequest { name: &args.name, pods: &args.pods, anonymize: args.anonymize };
    let ImportedTopology { topology, domains, links, notes } = sim_inputs::imported(&args.file, &request)?;
    let mut text = String::new();
    for line in domains.iter().chain(&links).flat_map(|domain| wrap(domain, COMMENT_WIDTH)) {
        let _ = writeln!(text, "# {line}");
    }
    text.push_str(&sim_inputs::print_yaml(&sim_inputs::written_topology(&topology)));
    for note in domains.iter().chain(&links).chain(&notes).chain(&topology.acting_annotations) {
        output::note(&format!("note: {note}"));
    }
    let Some(path) = &args.out else {
        return output::result(&text);
    };
    new_file(path, text.as_bytes())?;
    let held = match topology.accelerators() {
        (0, _) => String::new(),
        (all, 0) => format!(", {}", count(all, "accelerator")),
        (all, held) => format!(", {}, of which pods hold {}", count(all, "accelerator"), thousands(held)),
    };
    let nodes = count(topology.nodes(), "node");
    output::notice(&format!("{}: {nodes}{held}", path.display()));
    Ok(())
}

/// Width of comments in an imported topology.
const COMMENT_WIDTH: usize = 110;

fn as_json(topology: &TopologySpec) -> Value {
    let (accelerators, occupied) = topology.accelerators();
    json!({
        "name": topology.name,
        "nodes": topology.nodes(),
        "accelerators": accelerators,
        "occupiedAccelerators": occupied,
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
    u64::try_from(pool.totals(&pool.accelerator).0 / 1_000).unwrap_or(0)
}

pub fn show(topology: &TopologySpec) -> String {
    let mut out = String::new();
    let (total, held) = topology.accelerators();
    let held = if held > 0 { format!(", of which other pods hold {}", thousands(held)) } else { String::new() };
    let (nodes, total) = (count(topology.nodes(), "node"), count(total, "accelerator"));
    let _ = writeln!(out, "{}: {nodes}, {total}{held}", topology.name);
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
        thousands(pool.nodes()),
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
        let _ = writeln!(out, "  allocatable  {name}: {}", sim_inputs::written_quantity(name, *milli));
    }
    for name in pool.allocatable.keys() {
        let (all, held) = pool.totals(name);
        if held > 0 {
            let (held, all) = (rounded(name, held), rounded(name, all));
            let _ = writeln!(out, "  occupied     {name}: {held} of {all} on all nodes");
        }
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

/// Formats an amount in thousandths, rounded to whole units, or to GiB.
fn rounded(resource: &str, milli: i128) -> String {
    let is_bytes = ["memory", "ephemeral-storage"].contains(&resource) || resource.starts_with("hugepages-");
    let (unit, suffix) = if is_bytes { (1_000 << 30, " GiB") } else { (1_000, "") };
    format!("{}{suffix}", thousands(u64::try_from((milli + unit / 2) / unit).unwrap_or(0)))
}

#[cfg(test)]
#[path = "../../../tests/inside/program/cli/topology.rs"]
mod tests;
