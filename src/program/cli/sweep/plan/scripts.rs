//! Scripts for a Slurm array, a Ray driver and GNU parallel. All nodes must share the directory in which the script
//! starts.

use crate::{cli::inputs::quoted, cli::sweep::plan::shard_plan::ShardPlan};
use sim_base::escape::for_terminal;

/// The program: the value of `JOBSET_SIM`, else `jobset-sim` from the search path.
const PROGRAM: &str = "\"${JOBSET_SIM:-jobset-sim}\"";

/// Returns the command of a shard on one line, quoted for a shell.
fn shard(plan: &ShardPlan, which: &str, out: &str) -> String {
    let words: Vec<String> = plan.words.iter().map(|word| quoted(word)).collect();
    format!("{PROGRAM} {} --shard {which} --threads {} --out {out} --quiet", words.join(" "), plan.cpus)
}

fn shards(plan: &ShardPlan) -> String {
    format!("{}-shards", plan.out)
}

fn merge(plan: &ShardPlan) -> String {
    format!("sweep merge {} --out {}", quoted(&shards(plan)), quoted(&plan.out))
}

fn size(plan: &ShardPlan) -> String {
    for_terminal(&plan.size, false).replace('\n', " ")
}

pub fn slurm(plan: &ShardPlan) -> String {
    let last = plan.shards - 1;
    let out = quoted(&format!("{}/{{shard}}", shards(plan)));
    format!(
        "#!/bin/bash\n\
         # {}\n#\n\
         #   job=$(sbatch --parsable THIS)\n\
         #   sbatch --dependency=afterok:$job --wrap={}\n#\n\
         # The cluster may limit the number of tasks in an array (MaxArraySize). A requeued task resumes its shard.\n\
         #SBATCH --job-name={}\n\
         #SBATCH --array=0-{last}\n\
         #SBATCH --cpus-per-task={}\n\
         #SBATCH --requeue\n\
         set -euo pipefail\n\
         cd \"${{SLURM_SUBMIT_DIR:-.}}\"\n\
         exec {}\n",
        size(plan),
        quoted(&format!("jobset-sim {}", merge(plan))),
        plan.name,
        plan.cpus,
        shard(plan, "auto", &out)
    )
}

pub fn parallel(plan: &ShardPlan) -> String {
    let last = plan.shards - 1;
    let out = format!("{}/\"$1\"", quoted(&shards(plan)));
    format!(
        "#!/bin/bash\n\
         # {}\n#\n\
         # Needs GNU parallel. JOBS sets the number of parallel shards. Run the script again to resume.\n\
         set -euo pipefail\n\
         shard() {{\n    {}\n}}\n\
         export -f shard\n\
         export PARALLEL_SHELL=/bin/bash\n\
         jobs=${{JOBS:-$((($(nproc) + {cpus} - 1) / {cpus}))}}\n\
         seq 0 {last} | parallel --will-cite --jobs \"$jobs\" --halt now,fail=1 shard\n\
         {PROGRAM} {}\n",
        size(plan),
        shard(plan, &format!("\"$1/{}\"", plan.shards), &out),
        merge(plan),
        cpus = plan.cpus
    )
}

pub fn ray(plan: &ShardPlan) -> String {
    // JSON strings are valid Python strings.
    let python = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let words: Vec<String> = plan.words.iter().map(|word| python(word)).collect();
    format!(
        "#!/usr/bin/env python3\n\
         # {}\n#\n\
         #   python3 THIS            on this machine, or on the cluster in RAY_ADDRESS; do not name the file ray.py\n#\n\
         # All nodes must share this directory and have the program. Run the script again to resume.\n\
         import os\n\
         import subprocess\n\n\
         import ray\n\n\
         PROGRAM = os.environ.get(\"JOBSET_SIM\", \"jobset-sim\")\n\
         COMMAND = [{}]\n\
         SHARDS = {}\n\
         CPUS = {}\n\
         HERE = os.getcwd()\n\
         OUT = {}\n\n\n\
         @ray.remote(num_cpus=CPUS, max_retries=3)\n\
         def shard(i):\n\
         \x20   part = [\"--shard\", f\"{{i}}/{{SHARDS}}\", \"--threads\", str(CPUS)]\n\
         \x20   where = [\"--out\", f\"{{OUT}}-shards/{{i}}\", \"--quiet\"]\n\
         \x20   subprocess.run([PROGRAM, *COMMAND, *part, *where], check=True, cwd=HERE)\n\n\n\
         ray.init()\n\
         ray.get([shard.remote(i) for i in range(SHARDS)])\n\
         subprocess.run([PROGRAM, \"sweep\", \"merge\", f\"{{OUT}}-shards\", \"--out\", OUT], check=True)\n",
        size(plan),
        words.join(", "),
        plan.shards,
        plan.cpus,
        python(&plan.out)
    )
}
