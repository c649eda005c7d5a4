// @ts-check
// The model in the page: what was in the gap, by the model and by the exact posterior, and where each head looks.
// Its first state stands in the page before this script does: `page_model.py` writes the same elements.
import {
  View,
  clamp,
  element,
  field,
  formatNumber,
  isBetween,
  isCell,
  isText,
  isWhole,
  numbersTable,
  rendererOf,
  textBox,
} from "./base.js";
import { MASK, MaskedModel, WORD } from "./masked_model.js";
import { WeightGrid, percentage } from "./weights.js";

const ROWS = 8;
const ALIKE = 3; // letters in common, and words to propose
const HINTS = 3; // unknown words that hints are given for
const COLUMNS = ["palavra", "", "modelo, %", "exato, %"];
const EQUAL = 1e-6; // how near two probabilities are that only rounding tells apart
const GAP = "____";
const NEVER =
  "A gramática do curso nunca produz esta frase: o modelo responde, mas não há resposta exata com que comparar.";
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
function summary({ model, exact }, words) {
  const best = model.map((p, i) => Math.max(p, exact?.[i] ?? 0));
  const order = [...best.keys()].sort((a, b) => best[b] - best[a] || a - b).slice(0, ROWS);
  const rows = order.map((id) => ({
    id,
    word: words[id],
    model: model[id],
    exact: exact?.[id],
  }));
  if (!exact) return { rows };
  return { rows, entropy: entropy(exact), divergence: divergence(exact, model) };
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

// --- the sentence

const isGap = (word) => word.toUpperCase() === MASK;
const wordsOf = (text) => text.match(WORD) ?? [];

/** The text with another word in the k-th place. */
function withWord(text, k, word) {
  let place = 0;
  return text.replace(WORD, (old) => (place++ === k ? word : old));
}

/** A list of choices, by their number from 1. */
const numbered = (name, count) => {
  const options = Array.from({ length: count }, (_, i) => element("option", { value: i + 1 }, `${i + 1}`));
  return element("select", { "aria-label": name }, ...options);
};

class PageModelView extends View {
  static kept = {
    text: isText,
    gap: isWhole,
    layer: isBetween(1, (model) => model.get("layers")),
    head: isBetween(1, (model) => model.get("heads")),
    cell: isCell,
  };

  constructor(model) {
    const [title, instruction] = ["title", "instruction"].map((name) => model.get(name));
    const frame = { class: "cw cw-panel cw-page-model", role: "group", "aria-label": title };
    super(model, { ...frame, "data-lm-suppress-shortcuts": "true" });
    this.add(element("p", { class: "cw-title" }, title));
    this.add(element("p", { class: "cw-instruction" }, instruction));
    this.sentence = this.add(element("p", { class: "cw-sentence", role: "group", "aria-label": "Frase" }));
    this.add(this.answer());
    this.input = textBox("Frase com [MASK]");
    this.example = element("select", { "aria-label": "Exemplo" });
    this.example.append(...model.get("examples").map((text) => element("option", {}, text)));
    const controls = [field("Exemplo", this.example), field("Outra frase", this.input)];
    this.add(element("div", { class: "cw-write" }, ...controls));
    this.list = element("p", { tabindex: 0, class: "cw-known" });
    this.words = element("details", {}, element("summary", {}, "Que palavras o modelo conhece?"), this.list);
    this.add(this.words);
    this.add(this.inside());
    this.draw();
  }

  /** What is said of the sentence: in words, in bars, or why it cannot be. */
  answer() {
    this.message = element("p", { class: "cw-refused", role: "status" });
    this.hint = element("p", { class: "cw-why", role: "status" });
    this.again = element("button", { type: "button", hidden: "" }, "Tentar de novo");
    this.said = element("p", { class: "cw-said", role: "status" });
    this.body = element("tbody");
    const table = numbersTable("O que havia na lacuna?", COLUMNS, this.body);
    this.results = element("div", { class: "cw-results" }, this.said, table, legend());
    const trouble = element("div", { class: "cw-trouble" }, this.message, this.hint, this.again);
    return element("div", { class: "cw-answer" }, this.results, trouble);
  }

  /** What only some ask for: how far the model is from the exact answer, and where each head looks. */
  inside() {
    this.facts = element("p", { class: "cw-facts" });
    const choices = { layer: ["Camada", "layers"], head: ["Cabeça", "heads"] };
    const fields = Object.entries(choices).map(([trait, [name, count]]) => {
      this[trait] = numbered(name, this.model.get(count));
      return field(name, this[trait]);
    });
    const caption = "Atenção do modelo, em %: a linha olha para a coluna";
    this.grid = new WeightGrid(this, caption, (cell) => this.set({ cell }));
    const title = element("summary", {}, "Por dentro do modelo: incerteza e atenção");
    return element("details", {}, title, this.facts, ...fields, this.grid.root);
  }

  /** Ask for the model, once: at the first touch, since whoever only reads does not need it. */
  load() {
    if (this.loading) return;
    this.failed = false;
    this.loading = this.fetch();
  }

  async fetch() {
    try {
      this.network = new MaskedModel(await fetchBundle(this.model, this.signal));
    } catch {
      this.loading = undefined;
      this.failed = true;
      this.draw();
      return;
    }
    this.known = this.network.words.slice(this.network.specials);
    this.list.textContent = this.known.toSorted((a, b) => a.localeCompare(b, "pt-BR")).join(", ");
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
    this.example.selectedIndex = this.model.get("examples").indexOf(text);
    for (const trait of ["layer", "head"]) this[trait].value = String(this.model.get(trait));
    if (this.shown?.text !== text || this.readBy !== this.network) {
      const shown = this.read(text);
      this.shown = shown && { ...shown, text };
      this.readBy = this.network;
    }
    this.drawSentence(text);
    const { refused = this.waiting(), gaps, tokens } = this.shown ?? {};
    this.message.textContent = refused;
    this.hint.textContent = this.hints().join(" ");
    this.again.hidden = !this.failed;
    this.results.hidden = !gaps;
    if (!gaps) return this.shown || this.failed || this.load();
    this.drawWords(gaps[clamp(this.model.get("gap"), gaps.length - 1)]);
    if (this.tokens !== tokens) this.grid.build((this.tokens = tokens));
    this.drawAttention();
  }

  /** What to say while the model is not there: nothing, if it is not needed yet. */
  waiting() {
    if (this.failed)
      return "O modelo não chegou. No JupyterLab, execute a célula deste widget e tente de novo.";
    return this.shown ? "" : `Carregando o modelo (${this.model.get("kilobytes")} kB)…`;
  }

  /** Each word is a button; those of a sentence of the same length stay, and the focus with them. */
  drawSentence(text) {
    const all = wordsOf(text);
    const [words, between] = all.length > this.model.get("longest") ? [[], []] : [all, text.split(WORD)];
    if (this.places?.length !== words.length) {
      this.places = words.map(() => element("button", { type: "button" }));
      this.between = between.map(() => document.createTextNode(""));
      this.sentence.replaceChildren(...this.between.flatMap((part, k) => [part, this.places[k] ?? ""]));
    }
    between.forEach((part, k) => (this.between[k].data = part));
    const chosen = clamp(this.model.get("gap"), words.filter(isGap).length - 1);
    let gap = 0;
    words.forEach((word, k) => {
      const place = this.places[k];
      place.className = isGap(word) ? "cw-gap" : this.shown?.unknown?.includes(word) ? "cw-unknown" : "";
      place.textContent = isGap(word) ? GAP : word;
      place.ariaLabel = isGap(word) ? `lacuna ${gap + 1}` : null;
      place.ariaPressed = isGap(word) ? String(gap++ === chosen) : null;
    });
  }

  /** For each unknown word, the known ones that begin like it; the list of all of them is opened. */
  hints() {
    const unknown = this.shown?.unknown ?? [];
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
    const lines = rows.map(({ id, word, model, exact }) => {
      const bars = element("td", { class: "cw-bars", "aria-hidden": "true" }, bar("by-model", model));
      if (typeof exact === "number") bars.append(bar("by-grammar", exact));
      const name = element("th", { scope: "row" }, element("button", { type: "button" }, word));
      return element("tr", { "data-word": id }, name, bars, share(model), share(exact));
    });
    this.body.replaceChildren(...lines);
    const longest = Math.max(...rows.map(({ model, exact }) => Math.max(model, exact ?? 0)));
    this.body.style.setProperty("--cw-longest", String(longest));
    const isExact = typeof uncertainty === "number";
    this.said.textContent = `${likeliest("O modelo", rows, "model")} ${isExact ? likeliest("A resposta exata", rows, "exact") : NEVER}`;
    this.facts.textContent = isExact
      ? `Entropia do posterior exato: ${formatNumber(uncertainty, 3)} nats. ` +
        `KL(exato ‖ modelo): ${formatNumber(lost, 3)} nats.`
      : "";
  }

  drawAttention() {
    const { weights, tokens } = this.shown;
    const cell = this.model.get("cell").map((k) => clamp(k, tokens.length - 1));
    const head = weights[this.model.get("layer") - 1]?.[this.model.get("head") - 1];
    if (head) this.grid.draw(head, cell);
    else if (!this.failed) this.load();
  }

  /** Hide the k-th word, or look at the gap that is there. */
  hide(k) {
    const words = wordsOf(this.model.get("text"));
    const gap = words.slice(0, k).filter(isGap).length;
    this.set({
      text: isGap(words[k]) ? this.model.get("text") : withWord(this.model.get("text"), k, MASK),
      gap,
    });
  }

  /** Put a word into the gap that is looked at. */
  fill(word) {
    const gaps = wordsOf(this.model.get("text")).flatMap((old, k) => (isGap(old) ? [k] : []));
    const place = gaps[clamp(this.model.get("gap"), gaps.length - 1)];
    this.places[place].focus();
    this.set({ text: withWord(this.model.get("text"), place, word), gap: 0 });
  }

  listen() {
    for (const touch of ["focusin", "pointerdown"]) this.on(this.root, touch, () => this.load());
    this.on(this.again, "click", () => {
      this.load();
      this.draw();
    });
    this.on(this.sentence, "click", ({ target }) => {
      const k = this.places.indexOf(target.closest("button"));
      if (k >= 0) this.hide(k);
    });
    this.on(this.body, "click", ({ target }) => {
      const word = target.closest("tr[data-word]")?.querySelector("button").textContent;
      if (word) this.fill(word);
    });
    this.on(this.input, "input", () => this.set({ text: this.input.value, gap: 0 }));
    this.on(this.example, "change", () => this.set({ text: this.example.value, gap: 0 }));
    for (const trait of ["layer", "head"]) {
      this.on(this[trait], "change", () => this.set({ [trait]: Number(this[trait].value) }));
    }
    this.onChange(["text", "gap", "layer", "head", "cell"], () => this.draw());
  }
}

/** The likeliest word, in a sentence. */
function likeliest(who, rows, name) {
  const most = Math.max(...rows.map((row) => row[name]));
  const { word, [name]: p } = rows.find((row) => row[name] > most - EQUAL);
  return `${who}: “${word}”, ${percentage(p)}%.`;
}

function legend() {
  const key = (name, text) =>
    element("li", {}, element("span", { class: `cw-bar cw-${name}`, "aria-hidden": "true" }), text);
  return element("ul", { class: "cw-key" }, key("by-model", "modelo"), key("by-grammar", "resposta exata"));
}

export default { render: rendererOf(PageModelView) };
