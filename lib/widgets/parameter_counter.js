// @ts-check
// The parameter counter: parameters by part, memory and training FLOPs of an encoder of any size.
import {
  View,
  element,
  figures,
  formatNumber,
  isBetween,
  isPlaceIn,
  numbersTable,
  rendererOf,
} from "./base.js";

const SIZES = ["vocab_size", "d", "layers", "heads", "d_ff", "positions"];
const FLAGS = ["segments", "first_position", "embedding_norm", "pre_norm", "pooler"];
const PARTS = {
  token_embeddings: "embeddings de token",
  position_embeddings: "embeddings de posição",
  segment_embeddings: "embeddings de segmento",
  attention: "atenção",
  feed_forward: "feed-forward",
  norms: "normas",
  pooler: "pooler",
  head: "cabeça MLM",
};
const PREDICTED = 0.15;
const COSTS = {
  float32: "pesos em float32",
  float16: "pesos em float16",
  adam: "treino com Adam, sem as ativações",
  perToken: "FLOPs por token, só a ida",
  training: "FLOPs do treino, ida e volta",
};
const BYTES = { float32: 4, float16: 2, adam: 16 }; // a parameter
const NOTHING = "—";
const thousands = (n) => String(n).replaceAll(/\B(?=(\d{3})+$)/g, ".");
const bytes = (n) => (n < 1e9 ? `${formatNumber(n / 1e6, 1)} MB` : `${formatNumber(n / 1e9, 2)} GB`);
const PETAFLOPS_DAY = 1e15 * 86_400;
const work = (x) =>
  `${formatNumber(x, 0)} (${formatNumber(x / PETAFLOPS_DAY, 2, { tiny: true })} petaFLOP/s-dia)`;
const sum = (xs) => xs.reduce((a, b) => a + b, 0);

const readSizes = (model) =>
  Object.fromEntries(SIZES.map((name) => [name, model.get("choices")[name][model.get(`${name}_index`)]]));

/**
 * Parameters by part: what `lib.parameters.count` sums.
 * @param {Record<string, number>} sizes
 */
function countParts({ vocab_size: V, d, layers, d_ff: dFF, positions }, flags, head) {
  const norm = 2 * d;
  const norms = 2 * layers + flags.embedding_norm + flags.pre_norm;
  return {
    token_embeddings: V * d,
    position_embeddings: positions * d,
    segment_embeddings: flags.segments * d,
    attention: layers * 4 * (d * d + d),
    feed_forward: layers * (d * dFF + dFF + dFF * d + d),
    norms: norms * norm,
    pooler: (d * d + d) * flags.pooler,
    head: (d * d + d + norm + V) * head,
  };
}

/**
 * Operations of the matrix products of one token's forward pass, in sentences of the maximal length.
 * @param {Record<string, number>} sizes
 */
function forwardFlops({ vocab_size: V, d, layers, d_ff: dFF, positions }, flags, head) {
  const n = positions - flags.first_position;
  const block = 2 * 4 * d * d + 2 * 2 * d * dFF;
  const attention = 2 * 2 * n * d;
  return layers * (block + attention) + PREDICTED * 2 * (d * d + d * V) * head;
}

/** Everything that the view shows, or `refused`: why there is no such model. */
function compute(model) {
  const sizes = readSizes(model);
  const flags = model.get("flags");
  const head = model.get("head_index");
  const tokens = model.get("tokens_choices")[model.get("tokens_index")];
  const { d, heads } = sizes;
  if (d % heads)
    return { refused: `Não existe: d = ${d} não se divide em ${heads} cabeças iguais.`, sizes, flags };
  const parts = countParts(sizes, flags, head);
  const perToken = forwardFlops(sizes, flags, head);
  const total = sum(Object.values(parts));
  return { sizes, flags, head, parts, total, perToken, training: 3 * perToken * tokens };
}

/** A place among the choices of one size. */
const isSizeOf = (name) => isBetween(0, (model) => model.get("choices")[name].length - 1);

class CounterView extends View {
  static kept = {
    preset_index: isBetween(0, (model) => model.get("presets").length),
    ...Object.fromEntries(SIZES.map((name) => [`${name}_index`, isSizeOf(name)])),
    flags: (x, model) =>
      model.get("presets").some((preset) => FLAGS.every((name) => preset[name] === x?.[name])),
    head_index: isBetween(0, () => 1),
    tokens_index: isPlaceIn("tokens_choices"),
  };

  constructor(model) {
    super(model, { class: "cw cw-counter" });
    this.message = this.add(element("p", { class: "cw-refused", role: "status" }));
    this.total = this.add(element("p", { class: "cw-total" }));
    this.rows = Object.entries(PARTS).map(([name, title]) => this.row(name, title));
    const body = element("tbody", {}, ...this.rows.map((row) => row.tr));
    this.add(numbersTable("Parâmetros por parte", ["parte", "parâmetros", "fração", ""], body));
    this.costs = figures(COSTS);
    this.add(this.costs.list);
    this.note = this.add(element("p", { class: "cw-note" }));
    this.draw();
  }

  row(name, title) {
    const [cell, fraction] = [element("td"), element("td")];
    const bar = element("div", { class: "cw-part" });
    const tr = element("tr", { "data-part": name }, element("th", { scope: "row" }, title), cell, fraction);
    tr.append(element("td", { class: "cw-bar" }, bar));
    return { name, cell, fraction, bar, tr };
  }

  draw() {
    const { refused, sizes, flags, head, parts, total, perToken, training } = compute(this.model);
    this.message.textContent = refused ?? "";
    this.total.textContent = refused ? "" : `${thousands(total)} parâmetros`;
    for (const { name, cell, fraction, bar } of this.rows) {
      cell.textContent = refused ? NOTHING : thousands(parts[name]);
      fraction.textContent = refused ? NOTHING : `${formatNumber((100 * parts[name]) / total, 1)}%`;
      bar.style.setProperty("--cw-fill", String(refused ? 0 : parts[name] / total));
    }
    const { cells } = this.costs;
    for (const [name, each] of Object.entries(BYTES)) {
      cells[name].textContent = refused ? NOTHING : bytes(total * each);
    }
    cells.perToken.textContent = refused ? NOTHING : thousands(Math.round(perToken));
    cells.training.textContent = refused ? NOTHING : work(training);
    this.note.textContent = refused ? "" : noteOf(sizes, flags, head);
  }

  /** A preset moves the sliders; sliders that leave it, or come back to it, move the list. */
  apply() {
    const preset = this.model.get("presets")[this.model.get("preset_index") - 1];
    if (!preset || this.matches(preset)) return;
    this.applying = true;
    this.model.set("flags", Object.fromEntries(FLAGS.map((name) => [name, preset[name]])));
    for (const name of SIZES)
      this.model.set(`${name}_index`, this.model.get("choices")[name].indexOf(preset[name]));
    this.applying = false;
    this.model.save_changes();
  }

  matches(preset) {
    const state = { ...readSizes(this.model), ...this.model.get("flags") };
    return [...SIZES, ...FLAGS].every((name) => state[name] === preset[name]);
  }

  recognise() {
    if (this.applying) return;
    const found = this.model.get("presets").findIndex((preset) => this.matches(preset)) + 1;
    if (found === this.model.get("preset_index")) return;
    this.set({ preset_index: found });
  }

  listen() {
    const sizes = SIZES.map((name) => `${name}_index`);
    this.onChange(["preset_index"], () => this.apply());
    this.onChange([...sizes, "flags"], () => this.recognise());
    this.onChange([...sizes, "flags", "head_index", "tokens_index"], () => this.draw());
  }
}

/** @param {Record<string, number>} sizes */
function noteOf({ d, heads, positions }, flags, head) {
  const reads = head ? `; a cabeça lê ${PREDICTED * 100}% das posições` : "";
  return (
    `Cada cabeça fica com d / h = ${d / heads} números: mudar h não muda nenhum parâmetro. ` +
    `FLOPs: produtos de matrizes em frases de ${positions - flags.first_position} tokens${reads}.`
  );
}

export default { render: rendererOf(CounterView) };
