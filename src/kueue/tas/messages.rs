//! Reasons why there is no assignment (`notFitMessage` and `multiLayerNotFitMessage`).

use super::search::Search;

impl Search<'_> {
    /// Returns the reason if only `fitting` of the requested slices fit.
    pub fn not_fit_reason(&self, level: usize, fitting: i64) -> String {
        if !self.parameters.layers.is_empty() {
            return self.layers_not_fit_reason(level);
        }
        let topology = &self.flavor.topology;
        let requested = self.parameters.slices();
        let unit = if self.parameters.slice_size == 1 { "pod" } else { "slice" };
        let suffix = self.stats.suffix();
        if fitting == 0 {
            format!("topology {topology:?} doesn't allow to fit any of {requested} {unit}(s){suffix}")
        } else {
            format!("topology {topology:?} allows to fit only {fitting} out of {requested} {unit}(s){suffix}")
        }
    }

    /// Reports the counts of all layers in the domain of the level that fits most slices.
    fn layers_not_fit_reason(&self, level: usize) -> String {
        let mut reason = format!("topology {:?} doesn't allow to fit", self.flavor.topology);
        let best = self.flavor.tree.domains(level).rev().max_by_key(|domain| self.states[*domain].slices);
        let Some(best) = best else { return reason };
        for layer in self.parameters.layers {
            let needed = self.parameters.count / i64::from(layer.size);
            if let Some(fitting) = self.count_slices_below(best, level, layer) {
                reason += &format!("; {fitting}/{needed} slice(s) fit on level {}", layer.topology);
            }
        }
        reason + &self.stats.suffix()
    }
}
