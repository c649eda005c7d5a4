// @ts-check
// Cross-entropy by hand: bars to drag, and the loss, its gradient, entropies, KL and perplexity that follow.
import {
  View,
  element,
  figures,
  formatNumber,
  isPlaceIn,
  numbersTable,
  rendererOf,
  softmax,
} from "./base.js";

const LOGIT_LIMIT = 10;
const LEAST = 0.001;
const MOST = 0.999;
const FLOOR = 1e-4;
const RANGES = {
  probabilidades: { min: 0, max: 1, step: 0.01, name: "probabilidade" },
  logits: { min: -LOGIT_LIMIT, max: LOGIT_LIMIT, step: 0.1, name: "logit" },
};
const number = (x) => formatNumber(x, 3);
/** A gradient has a direction: its plus is written out. */
const signed = (x) => (number(x).startsWith("−") || !/[1-9]/.test(number(x)) ? "" : "+") + number(x);
const sum = (xs) => xs.reduce((a, b) => a + b, 0);

/** Σ x log(x / y) or −Σ x log y come from this: x log y, with 0 log 0 = 0. */
const xLogY = (x, y) => (x === 0 ? 0 : x * Math.log(y));

/** Everything that the view shows, computed from the model's state alone. */
function compute(model) {
  const logits = model.get("logits");
  const target = model.get("target_index");
  const smoothing = model.get("smoothings")[model.get("smoothing_index")];
  const soft = softmax(logits);
  const q = soft.weights;
  const p = q.map((_, k) => smoothing / q.length + (k === target ? 1 - smoothing : 0));
  const logZ = soft.max + Math.log(soft.sum);
  const loss = sum(p.map((pk, k) => pk * (logZ - logits[k])));
  const entropyP = -sum(p.map((pk) => xLogY(pk, pk)));
  return {
    logits,
    target,
    smoothing,
    q,
    p,
    loss,
    entropyP,
    gradient: q.map((qk, k) => qk - p[k]),
    entropyQ: -sum(q.map((qk) => xLogY(qk, qk))),
    kl: sum(p.map((pk, k) => xLogY(pk, pk) - xLogY(pk, q[k]))),
    bits: loss / Math.log(2),
    perplexity: Math.exp(loss),
  };
}

/** The logits once the bar of word k was dragged: the others shrink or grow together to fill the rest. */
function withProbability(q, k, value) {
  const wanted = Math.min(Math.max(value, LEAST), MOST);
  const moved = q.map((qj, j) => (j === k ? wanted : Math.max((qj * (1 - wanted)) / (1 - q[k]), FLOOR)));
  const total = sum(moved);
  return moved.map((m) => Math.log(m / total));
}

const FACTS = {
  loss: "perda H(p, q)",
  perplexity: "perplexidade e^H(p, q)",
  entropyQ: "entropia do modelo H(q)",
  entropyP: "entropia da verdade H(p)",
  kl: "divergência KL(p ‖ q)",
};
const isLogit = (z) => Number.isFinite(z) && Math.abs(z) <= LOGIT_LIMIT;
const COLUMNS = ["palavra", "arraste", "z", "q", "p", "∂H/∂z = q − p"];

class BarsView extends View {
  static kept = {
    logits: (x, model) => Array.isArray(x) && x.length === model.get("words").length && x.every(isLogit),
    target_index: isPlaceIn("words"),
    mode_index: isPlaceIn("modes"),
    smoothing_index: isPlaceIn("smoothings"),
  };

  constructor(model) {
    super(model, { class: "cw cw-bars", "data-lm-suppress-shortcuts": "true" });
    this.body = element("tbody");
    this.add(numbersTable("O que o modelo espera (q) e o que é verdade (p)", COLUMNS, this.body));
    this.facts = figures(FACTS);
    this.add(this.facts.list);
    this.verdict = this.add(element("p", { class: "cw-verdict", role: "status" }));
    this.build();
  }

  /** One row per word; `draw` fills them. */
  build() {
    this.rows = this.model.get("words").map((word, k) => {
      const input = element("input", { type: "range", "data-k": k });
      const cells = Object.fromEntries(
        ["z", "q", "p", "gradient"].map((name) => [name, element("td", { "data-cell": name })]),
      );
      const mark = element("span", { class: "cw-mark" });
      const name = element("th", { scope: "row" }, mark, element("span", {}, word));
      const bar = element("td", { class: "cw-bar" }, input);
      const tr = element("tr", { "data-k": k }, name, bar, ...Object.values(cells));
      return { word, input, cells, mark, tr };
    });
    this.body.replaceChildren(...this.rows.map((row) => row.tr));
    this.draw();
  }

  get mode() {
    return this.model.get("modes")[this.model.get("mode_index")];
  }

  draw() {
    this.shown = compute(this.model);
    const { logits, q, p, gradient, target } = this.shown;
    const range = RANGES[this.mode];
    this.rows.forEach(({ word, input, cells, mark, tr }, k) => {
      const value = this.mode === "logits" ? logits[k] : q[k];
      for (const name of ["min", "max", "step"]) input[name] = range[name];
      input.value = value;
      input.style.setProperty("--cw-fill", (value - range.min) / (range.max - range.min));
      input.setAttribute("aria-label", `${range.name} de ${word}`);
      input.setAttribute("aria-valuetext", number(value));
      mark.textContent = k === target ? "✓ " : "";
      tr.classList.toggle("cw-target", k === target);
      cells.z.textContent = number(logits[k]);
      cells.q.textContent = number(q[k]);
      cells.p.textContent = number(p[k]);
      cells.gradient.textContent = signed(gradient[k]);
    });
    for (const [name, cell] of Object.entries(this.facts.cells)) {
      cell.textContent = number(this.shown[name]) + (name === "perplexity" ? "" : " nats");
    }
    this.facts.cells.loss.textContent += ` = ${number(this.shown.bits)} bits`;
    this.drawVerdict();
  }

  drawVerdict() {
    const { q, target, smoothing } = this.shown;
    const { word } = this.rows[target];
    const start = `A palavra certa, “${word}”, tem q = ${number(q[target])}.`;
    this.verdict.textContent = smoothing
      ? `${start} A perda nunca desce abaixo de H(p): o que um q melhor economiza é só a KL.`
      : `${start} Sem suavização, H(p) = 0 e a perda é a própria KL: −ln ${number(q[target])}.`;
  }

  drag(k, value) {
    const { logits, q } = this.shown;
    const next =
      this.mode === "logits" ? logits.map((z, j) => (j === k ? value : z)) : withProbability(q, k, value);
    this.set({ logits: next });
  }

  listen() {
    this.on(this.body, "input", ({ target }) => this.drag(Number(target.dataset.k), target.valueAsNumber));
    this.onChange(["words"], () => this.build());
    this.onChange(["logits", "target_index", "mode_index", "smoothing_index"], () => this.draw());
  }
}

export default { render: rendererOf(BarsView) };
