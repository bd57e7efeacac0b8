use jobset_sim::{engine::Simulation, manifest, record::*};
fn main() {
    for path in std::env::args().skip(1) {
        let t = std::time::Instant::now();
        let loaded = match manifest::read_scenario(std::path::Path::new(&path), &[]) {
            Ok(l) => l,
            Err(e) => {
                eprintln!("{e}");
                continue;
            }
        };
        let t1 = t.elapsed();
        let mut sim = match Simulation::new(&loaded.scenario) {
            Ok(s) => s,
            Err(e) => {
                eprintln!("{e:?}");
                continue;
            }
        };
        let t2 = t.elapsed();
        let o = sim.run(42, 0, &mut Discard);
        let t3 = t.elapsed();
        let o2 = sim.run(42, 0, &mut Discard);
        let t4 = t.elapsed();
        println!(
            "{path}: read {t1:?} build {:?} run {:?} again {:?} events {} records {} end {} {:?} digest {:x} {} js {:?} stuck {:?} warn {:?}",
            t2 - t1,
            t3 - t2,
            t4 - t3,
            o.events,
            o.records,
            o.end,
            o.end_reason,
            o.digest,
            o.digest == o2.digest,
            o.jobsets
                .iter()
                .map(|j| (
                    j.restarts,
                    j.current_in_place_restart_attempt,
                    j.terminal_state
                ))
                .collect::<Vec<_>>(),
            o.stuck,
            o.warnings
        );
        for r in &o.resources {
            if r.requests > 0 {
                println!(
                    "   {:28} {:9} q {:6} busy {:.1}",
                    r.resource.as_str(),
                    r.requests,
                    r.longest_queue,
                    r.busy
                        .iter()
                        .map(|b| b.1.seconds() - b.0.seconds())
                        .sum::<f64>()
                );
            }
        }
    }
}
