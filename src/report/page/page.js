"use strict";
(() => {
  const root = document.documentElement, button = document.getElementById("theme");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const label = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; label(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
  addEventListener("beforeprint", () => { for (const d of document.querySelectorAll("details")) d.open = true; });

  // Seconds, minutes, hours or days, depending on the length of the window.
  const UNITS = [[86400e3, "d"], [3600e3, "h"], [60e3, "min"], [1e3, "s"], [1, "ms"]];
  const unit = span => UNITS.find(([ms]) => span >= 3 * ms && (ms !== 60e3 || span >= 1200e3) && (ms !== 3600e3 || span >= 4 * ms)) ?? UNITS[4];
  const number = v => String(+v.toFixed(3)).replace(/\B(?=(\d{3})+(?!\d)(?=\.|$))/g, v >= 1000 ? "," : "");
  const step = (span, n) => {
    const rough = span / n, power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map(m => m * power).find(s => s >= rough) ?? 10 * power;
  };

  for (const line of document.querySelectorAll(".timeline")) {
    const end = +line.dataset.end, ticks = line.querySelector(".ticks"), readout = line.querySelector(".at");
    const fields = [...line.querySelectorAll(".field")], drawings = fields.map(f => f.querySelector("svg"));
    const marks = [...line.querySelectorAll(".field i")], windows = [...line.querySelectorAll("button[data-from]")];
    let from = +line.dataset.from, to = +line.dataset.to, grip = null;
    const show = (a, b) => {
      const span = Math.min(Math.max(b - a, 20), end);
      from = Math.min(Math.max(a, 0), end - span);
      to = from + span;
      for (const d of drawings) d.setAttribute("viewBox", `${from} 0 ${span} 1000`);
      for (const m of marks) m.style.left = `${(m.dataset.t - from) / span * 100}%`;
      for (const w of windows) w.setAttribute("aria-pressed", +w.dataset.from === from && +w.dataset.to === to);
      const [ms, word] = unit(span), by = step(span / ms, 7) * ms;
      ticks.replaceChildren();
      for (let t = Math.ceil(from / by) * by; t <= to; t += by) {
        const tick = document.createElement("span");
        tick.textContent = `${number(t / ms)} ${word}`;
        tick.style.left = `${(t - from) / span * 100}%`;
        ticks.append(tick);
      }
    };
    const zoom = (by, at = (from + to) / 2) => show(at - (at - from) * by, at + (to - at) * by);
    const place = event => {
      const box = fields[0].getBoundingClientRect();
      return from + Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) * (to - from);
    };
    line.querySelector(".bar").addEventListener("click", ({ target }) => {
      if (target.dataset.zoom) zoom(+target.dataset.zoom);
      else if (target.dataset.from) show(+target.dataset.from, +target.dataset.to);
    });
    line.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "BUTTON") return;
      const span = to - from;
      const act = { ArrowLeft: () => show(from - span / 5, to - span / 5), ArrowRight: () => show(from + span / 5, to + span / 5),
        "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => show(0, end) }[event.key];
      if (act) { event.preventDefault(); act(); }
    });
    line.addEventListener("wheel", event => {
      if (!event.ctrlKey || !event.target.closest(".field")) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, place(event));
    }, { passive: false });
    for (const field of fields) {
      field.addEventListener("pointermove", event => {
        const at = place(event);
        readout.textContent = `${(at / 1000).toFixed(2)} s`;
        if (!grip) return;
        const [a, b] = [grip.at, at].sort((x, y) => x - y);
        grip.box.style.left = `${(a - from) / (to - from) * 100}%`;
        grip.box.style.width = `${(b - a) / (to - from) * 100}%`;
      });
      field.addEventListener("pointerleave", () => { if (!grip) readout.textContent = ""; });
      field.addEventListener("pointerdown", event => {
        if (event.button !== 0) return;
        grip = { at: place(event), box: document.createElement("b") };
        field.append(grip.box);
        field.setPointerCapture(event.pointerId);
        event.preventDefault();
        line.focus({ preventScroll: true });
      });
      field.addEventListener("pointerup", event => {
        if (!grip) return;
        const [a, b] = [grip.at, place(event)].sort((x, y) => x - y);
        grip.box.remove();
        grip = null;
        if (b - a > (to - from) / 100) show(a, b);
      });
      field.addEventListener("pointercancel", () => { grip?.box.remove(); grip = null; });
      field.addEventListener("dblclick", () => show(0, end));
    }
    show(from, to);
  }
})();
