// @ts-check
// The model in the page: what was in the gap, by the model and by the exact posterior, and where each head looks.
import {
  View,
  clamp,
  element,
  field,
  formatNumber,
  isBetween,
  isCell,
  isPlaceIn,
  isText,
  isWhole,
  numbersTable,
  rendererOf,
  textBox,
} from "./base.js";
import { MaskedModel, WORD } from "./masked_model.js";
import { WeightGrid, percentage } from "./weights.js";

const ROWS = 8;
const ALIKE = 3; // letters in common, and words to propose
const HINTS = 3; // unknown words that hints are given for
const COLUMNS = ["palavra", "", "modelo, %", "exato, %", "logit"];
const SCRIPT = "../../course_model.js"; // from where the script that draws the widgets is
const PATIENCE_MS = 20000; // a busy kernel may take its time

/** −Σ p log p, in nats. */
const entropy = (p) => p.reduce((sum, x) => sum - (x > 0 ? x * Math.log(x) : 0), 0);
/** Σ p log(p / q): what q loses for not being p. */
const divergence = (p, q) => p.reduce((sum, x, k) => sum + (x > 0 ? x * Math.log(x / q[k]) : 0), 0);

// --- where the model comes from

/** The bundle: from a script of the book, or from Python where there is no such page. */
async function fetchBundle(model, signal) {
  if (globalThis.courseModel) return globalThis.courseModel;
  /** @type {HTMLScriptElement} */
  const page = document.querySelector('script[src*="bundles/widgets.js"]');
  if (!page) return askKernel(model, signal);
  const script = element("script", { src: new URL(SCRIPT, page.src).href });
  const arrived = new Promise((done, failed) => {
    script.addEventListener("load", done, { signal });
    script.addEventListener("error", failed, { signal });
  });
  document.head.append(script);
  await arrived.finally(() => script.remove());
  return globalThis.courseModel;
}

function askKernel(model, signal) {
  return new Promise((done, failed) => {
    const answer = (message) => message.model && done(message.model);
    model.on("msg:custom", answer);
    const timer = setTimeout(failed, PATIENCE_MS);
    signal.addEventListener("abort", () => {
      model.off("msg:custom", answer);
      clearTimeout(timer);
    });
    model.send({ wanted: "model" });
  });
}

// --- the view

/** What is shown of a gap: its likeliest words, by the model or by the exact posterior, and how far the two are. */
function summary({ place, logits, model, exact }, words) {
  const best = model.map((p, i) => Math.max(p, exact?.[i] ?? 0));
  const order = [...best.keys()].sort((a, b) => best[b] - best[a] || a - b).slice(0, ROWS);
  const rows = order.map((id) => ({
    id,
    word: words[id],
    logit: logits[id],
    model: model[id],
    exact: exact?.[id],
  }));
  if (!exact) return { place, rows };
  return { place, rows, entropy: entropy(exact), divergence: divergence(exact, model) };
}

/** The known words with the longest beginning in common with a word, of at least ALIKE letters. */
function alike(word, known) {
  const length = (other) => {
    const characters = [...other];
    const k = characters.findIndex((c, at) => c !== word[at]);
    return k < 0 ? characters.length : k;
  };
  return known
    .filter((other) => length(other) >= ALIKE)
    .sort((a, b) => length(b) - length(a))
    .slice(0, ALIKE);
}

class PageModelView extends View {
  static kept = {
    text: isText,
    example_index: isPlaceIn("examples"),
    gap: isWhole,
    layer: isBetween(1, (model) => model.get("layers")),
    head: isBetween(1, (model) => model.get("heads")),
    cell: isCell,
  };

  constructor(model) {
    super(model, { class: "cw cw-page-model", "data-lm-suppress-shortcuts": "true" });
    this.input = textBox("Frase com [MASK]");
    this.add(field("Frase", this.input));
    this.message = this.add(element("p", { class: "cw-refused", role: "status" }));
    this.hint = this.add(element("p", { class: "cw-why", role: "status" }));
    this.progress = this.add(element("p", { class: "cw-why", role: "status" }));
    this.again = this.add(element("button", { type: "button", hidden: "" }, "Tentar de novo"));
    this.hide = this.add(
      element("button", { type: "button", hidden: "" }, "Pôr [MASK] no lugar do que ele não conhece"),
    );
    this.results = this.add(element("div", { class: "cw-results", hidden: "" }));
    this.which = element("select", { "aria-label": "Lacuna" });
    this.choice = field("Lacuna", this.which);
    this.body = element("tbody");
    const table = numbersTable("O que havia na lacuna?", COLUMNS, this.body);
    this.facts = element("p", { class: "cw-facts", role: "status" });
    const caption = "Atenção do modelo, em %: a linha olha para a coluna";
    this.grid = new WeightGrid(this, caption, (cell) => this.set({ cell }));
    this.results.append(this.choice, table, legend(), this.facts, this.grid.root);
    this.list = element("p", { tabindex: 0, class: "cw-known" });
    this.words = element("details", {}, element("summary", {}, "Que palavras o modelo conhece?"), this.list);
    this.add(this.words);
    this.draw();
  }

  /** Ask for the model, once: at the first touch, since whoever only reads does not need it. */
  load() {
    this.loading ??= this.fetch();
  }

  async fetch() {
    this.again.hidden = true;
    this.progress.textContent = `Carregando o modelo (${this.model.get("kilobytes")} kB)…`;
    try {
      this.network = new MaskedModel(await fetchBundle(this.model, this.signal));
    } catch {
      this.loading = undefined;
      this.again.hidden = false;
      this.progress.textContent =
        "O modelo não chegou. No JupyterLab, execute a célula deste widget e tente de novo.";
      return;
    }
    this.known = this.network.words.slice(this.network.specials);
    this.list.textContent = this.known.toSorted((a, b) => a.localeCompare(b, "pt-BR")).join(", ");
    this.progress.textContent = "";
    this.root.dataset.ready = "";
    this.draw();
  }

  /** What is known of the sentence: by the model, or, before it is there, by what the page carries of the first one. */
  read(text) {
    if (!this.network) return this.model.get("opening").text === text ? this.model.get("opening") : undefined;
    const { refused, unknown, gaps, ...shown } = this.network.run(text);
    return { refused, unknown, ...shown, gaps: gaps?.map((gap) => summary(gap, this.network.words)) };
  }

  draw() {
    const text = this.model.get("text");
    if (this.input.value !== text) this.input.value = text;
    if (this.shown?.text !== text || this.readBy !== this.network) {
      const shown = this.read(text);
      if (!shown) return this.load();
      this.shown = { ...shown, text };
      this.readBy = this.network;
    }
    const { refused, gaps, tokens } = this.shown;
    this.message.textContent = refused ?? "";
    this.hint.textContent = this.hints().join(" ");
    this.hide.hidden = !this.shown.unknown;
    this.results.hidden = Boolean(refused);
    if (refused) return;
    const k = clamp(this.model.get("gap"), gaps.length - 1);
    this.choice.hidden = gaps.length < 2;
    const options = gaps.map(({ place }, i) =>
      element("option", { value: i }, `${i + 1}ª, na posição ${place}`),
    );
    this.which.replaceChildren(...options);
    this.which.value = String(k);
    this.drawWords(gaps[k]);
    if (this.tokens !== tokens) this.grid.build((this.tokens = tokens));
    this.drawAttention();
  }

  /** For each unknown word, the known ones that begin like it; the list of all of them is opened. */
  hints() {
    const { unknown = [] } = this.shown;
    if (unknown.length) this.words.open = true;
    return unknown.slice(0, HINTS).flatMap((word) => {
      const near = alike(word.toLowerCase(), this.known);
      return near.length ? [`Em vez de “${word}”: ${near.join(", ")}?`] : [];
    });
  }

  drawWords({ rows, entropy: uncertainty, divergence: lost }) {
    const share = (p) => element("td", {}, typeof p === "number" ? percentage(p) : "—");
    const bar = (name, p) => {
      const span = element("span", { class: `cw-bar cw-${name}` });
      span.style.setProperty("--cw-weight", p);
      return span;
    };
    const lines = rows.map(({ id, word, logit, model, exact }) => {
      const bars = element("td", { class: "cw-bars", "aria-hidden": "true" }, bar("by-model", model));
      if (typeof exact === "number") bars.append(bar("by-grammar", exact));
      const name = element("th", { scope: "row" }, word);
      const z = element("td", {}, formatNumber(logit, 3));
      return element("tr", { "data-word": id }, name, bars, share(model), share(exact), z);
    });
    this.body.replaceChildren(...lines);
    const longest = Math.max(...rows.map(({ model, exact }) => Math.max(model, exact ?? 0)));
    this.body.style.setProperty("--cw-longest", String(longest));
    this.facts.textContent =
      typeof uncertainty === "number"
        ? `Entropia do posterior exato: ${formatNumber(uncertainty, 3)} nats. ` +
          `KL(exato ‖ modelo): ${formatNumber(lost, 3)} nats.`
        : "A gramática do curso nunca produz esta frase: o modelo responde, mas não há posterior exato com que comparar.";
  }

  drawAttention() {
    const { weights, tokens } = this.shown;
    const cell = this.model.get("cell").map((k) => clamp(k, tokens.length - 1));
    const head = weights[this.model.get("layer") - 1]?.[this.model.get("head") - 1];
    if (head) this.grid.draw(head, cell);
    else this.load();
  }

  listen() {
    for (const touch of ["focusin", "pointerdown"]) this.on(this.root, touch, () => this.load());
    this.on(this.again, "click", () => this.load());
    this.on(this.hide, "click", () => {
      const hidden = (word) => (this.shown.unknown.includes(word) ? "[MASK]" : word);
      this.set({ text: this.model.get("text").replace(WORD, hidden), gap: 0 });
      this.input.focus();
    });
    this.on(this.input, "input", () => this.set({ text: this.input.value, gap: 0 }));
    this.on(this.which, "change", () => this.set({ gap: Number(this.which.value) }));
    this.onChange(["example_index"], () => {
      this.set({ text: this.model.get("examples")[this.model.get("example_index")], gap: 0 });
    });
    this.onChange(["text", "gap", "layer", "head", "cell"], () => this.draw());
  }
}

function legend() {
  const key = (name, text) =>
    element("li", {}, element("span", { class: `cw-bar cw-${name}`, "aria-hidden": "true" }), text);
  return element("ul", { class: "cw-key" }, key("by-model", "modelo"), key("by-grammar", "resposta exata"));
}

export default { render: rendererOf(PageModelView) };
