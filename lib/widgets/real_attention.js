// @ts-check
// Attention of a real encoder: the weights of one head, as a matrix or as lines, with and without the causal mask.
import {
  View,
  clamp,
  element,
  formatNumber,
  isBetween,
  isCell,
  isPlaceIn,
  numbersTable,
  rendererOf,
} from "./base.js";
import { bytesOf } from "./arrays.js";
import { WeightGrid, percentage } from "./weights.js";

const UNIT = 1000; // weights are carried in thousandths
const MASKS = ["bidirecional", "causal"];
const LARGEST = 3;
const PATTERNS = {
  previous: { text: "token anterior", key: (i) => i - 1 },
  self: { text: "o próprio token", key: (i) => i },
  next: { text: "token seguinte", key: (i) => i + 1 },
  first: { text: "[CLS], o primeiro", key: () => 0 },
  last: { text: "[SEP], o último", key: (i, n) => n - 1 },
};

const unpack = (text) => new Uint16Array(bytesOf(text));

/** The N × N weights of head number `k`; with the causal mask only the lower triangle is carried. */
function weightsOf(packed, n, k, causal) {
  const start = k * (causal ? (n * (n + 1)) / 2 : n * n);
  return Array.from({ length: n }, (_, i) => {
    const row = start + (causal ? (i * (i + 1)) / 2 : i * n);
    return Array.from({ length: n }, (__, j) => (causal && j > i ? 0 : packed[row + j] / UNIT));
  });
}

/** Mean weight that inner tokens give to each pattern: [CLS], [SEP] and the words beside them do not ask. */
function sharesOf(weights) {
  const n = weights.length;
  const queries = Array.from({ length: n - 4 }, (_, k) => k + 2);
  const mean = (key) => queries.reduce((sum, i) => sum + weights[i][key(i, n)], 0) / queries.length;
  /** @type {[string, number][]} */
  const shares = Object.entries(PATTERNS).map(([name, { key }]) => [name, mean(key)]);
  const rest = 1 - shares.reduce((sum, [, share]) => sum + share, 0);
  return Object.fromEntries([...shares, ["elsewhere", rest]]);
}

function largestOf(row) {
  const order = [...row.keys()].sort((a, b) => row[b] - row[a] || a - b);
  return order.slice(0, LARGEST);
}

/** A band from row i on the left to row j on the right, of n, as thick as a row where the weight is 1. */
function bandShape(i, j, weight, n) {
  /** @type {[number, number, number][]} */
  const corners = [
    [0, i, -1],
    [100, j, -1],
    [100, j, 1],
    [0, i, 1],
  ];
  const at = ([x, row, side]) => `${x}% ${((100 * (row + 0.5 + (side * weight) / 2)) / n).toFixed(3)}%`;
  return `polygon(${corners.map(at).join(", ")})`;
}

class AttentionView extends View {
  static kept = {
    sentence_index: isPlaceIn("sentences"),
    layer: isBetween(1, (model) => model.get("layers")),
    head: isBetween(1, (model) => model.get("heads")),
    mask_index: isBetween(0, () => MASKS.length - 1),
    view_index: isBetween(0, () => 1),
    cell: isCell,
  };

  constructor(model) {
    super(model, { class: "cw cw-real", "data-lm-suppress-shortcuts": "true" });
    this.unpacked = new Map();
    const caption = "Pesos de atenção, em %: a linha olha para a coluna";
    this.grid = new WeightGrid(this, caption, (cell) => this.set({ cell }));
    this.add(this.grid.root);
    this.lines = this.add(element("form", { class: "cw-lines" }));
    this.cellText = element("p", { class: "cw-cell" });
    this.largest = element("p", { class: "cw-largest" });
    this.add(element("div", { role: "status" }, this.cellText, this.largest));
    this.shares = {}; // the cell of each share, by its name
    const body = element("tbody");
    for (const [name, { text }] of Object.entries({ ...PATTERNS, elsewhere: { text: "outro lugar" } })) {
      const cell = (this.shares[name] = element("td"));
      body.append(element("tr", { "data-share": name }, element("th", { scope: "row" }, text), cell));
    }
    this.add(numbersTable("Para onde vai o peso desta cabeça, em média", [], body));
    this.size = this.add(element("p", { class: "cw-size" }));
    this.build();
  }

  get sentence() {
    return this.model.get("sentences")[this.model.get("sentence_index")];
  }

  /** Tables and lines for the tokens of the sentence; `draw` fills them. */
  build() {
    const { tokens } = this.sentence;
    this.grid.build(tokens);
    this.buildLines(tokens);
    this.draw();
  }

  buildLines(tokens) {
    this.queries = tokens.map((_, i) => element("input", { type: "radio", name: "query", value: i }));
    this.keys = tokens.map((_, j) => element("output", { "data-key": j }));
    this.bands = tokens.map(() => tokens.map(() => element("span")));
    const bands = element("div", { class: "cw-bands", "aria-hidden": "true" }, ...this.bands.flat());
    const left = tokens.map((token, i) => element("label", {}, this.queries[i], element("span", {}, token)));
    const right = tokens.map((token, j) => element("li", {}, this.keys[j], element("span", {}, token)));
    this.lines.replaceChildren(
      element("fieldset", {}, element("legend", {}, "Quem olha"), ...left),
      bands,
      element("ul", { "aria-label": "Para onde olha, em %" }, ...right),
    );
  }

  /** The weights of the head that is chosen, under one of the masks. */
  weights(mask) {
    const { tokens, ...packed } = this.sentence;
    if (!this.unpacked.has(packed[mask])) this.unpacked.set(packed[mask], unpack(packed[mask]));
    const k = (this.model.get("layer") - 1) * this.model.get("heads") + this.model.get("head") - 1;
    return weightsOf(this.unpacked.get(packed[mask]), tokens.length, k, mask === "causal");
  }

  draw() {
    const { tokens } = this.sentence;
    const [i, j] = this.model.get("cell").map((k) => clamp(k, tokens.length - 1));
    const mask = MASKS[this.model.get("mask_index")];
    const both = Object.fromEntries(MASKS.map((name) => [name, this.weights(name)]));
    const weights = both[mask];
    this.grid.draw(weights, [i, j], (a, b) => mask === "causal" && b > a);
    this.grid.root.hidden = this.model.get("view_index") !== 0;
    this.lines.hidden = this.model.get("view_index") !== 1;
    this.drawLines(weights, i);
    const values = MASKS.map((name) => `${name} ${percentage(both[name][i][j])}%`).join(", ");
    this.cellText.textContent = `De “${tokens[i]}” (${i + 1}) para “${tokens[j]}” (${j + 1}): ${values}.`;
    const largest = largestOf(weights[i]).map(
      (k) => `“${tokens[k]}” (${k + 1}) ${percentage(weights[i][k])}%`,
    );
    this.largest.textContent = `“${tokens[i]}” (${i + 1}) olha mais para: ${largest.join(", ")}.`;
    const shares = sharesOf(weights);
    for (const [name, cell] of Object.entries(this.shares))
      cell.textContent = `${formatNumber(100 * shares[name], 0)}%`;
    this.size.textContent = this.weight();
  }

  drawLines(weights, query) {
    this.queries[query].checked = true;
    this.keys.forEach((key, j) => {
      key.textContent = percentage(weights[query][j]);
    });
    if (this.lines.hidden) return; // N² shapes that nobody sees
    this.bands.forEach((row, i) =>
      row.forEach((band, j) => {
        band.classList.toggle("cw-chosen", i === query);
        band.style.clipPath = bandShape(i, j, weights[i][j], weights.length);
      }),
    );
  }

  /** How much the page carries for all this. */
  weight() {
    const sentences = this.model.get("sentences");
    const characters = sentences
      .flatMap((s) => MASKS.map((mask) => s[mask].length))
      .reduce((a, b) => a + b, 0);
    const heads = `${this.model.get("layers")} camadas de ${this.model.get("heads")} cabeças`;
    return (
      `${this.model.get("encoder")}, ${heads}, calculado antes, com os pesos reais do modelo. A página carrega os pesos de atenção ` +
      `em milésimos: ${formatNumber(characters / 1000, 0)} kB para ${sentences.length} frases com as duas máscaras.`
    );
  }

  listen() {
    this.on(this.lines, "submit", (event) => event.preventDefault());
    this.on(this.lines, "change", ({ target }) => {
      this.set({ cell: [Number(target.value), this.model.get("cell")[1]] });
    });
    this.onChange(["sentences", "sentence_index"], () => this.build());
    this.onChange(["layer", "head", "mask_index", "view_index", "cell"], () => this.draw());
  }
}

export default { render: rendererOf(AttentionView) };
