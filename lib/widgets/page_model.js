// @ts-check
// The model in the page: what was in the gap, by the model and by the exact posterior, and where each head looks.
import { View, clamp, element, field, formatNumber, numbersTable, rendererOf, textBox } from "./base.js";
import { MaskedModel } from "./masked_model.js";
import { WeightGrid, percentage } from "./weights.js";

const ROWS = 8;
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

class PageModelView extends View {
  constructor(model) {
    super(model, { class: "cw cw-page-model", "data-lm-suppress-shortcuts": "true" });
    this.input = textBox("Frase com [MASK]");
    this.add(field("Frase", this.input));
    this.ask = element("button", { type: "button" }, `Carregar o modelo (${model.get("kilobytes")} kB)`);
    this.add(element("div", { class: "cw-field" }, this.ask));
    this.message = this.add(element("p", { class: "cw-refused", role: "status" }));
    this.results = this.add(element("div", { class: "cw-results", hidden: "" }));
    this.which = element("select", { "aria-label": "Lacuna" });
    this.choice = field("Lacuna", this.which);
    this.body = element("tbody");
    const table = numbersTable("O que havia na lacuna?", ["palavra", "logit", "modelo", "exato"], this.body);
    this.facts = element("p", { class: "cw-facts" });
    const caption = "Atenção do modelo, em %: a linha olha para a coluna";
    this.grid = new WeightGrid(this, caption, (cell) => this.set({ cell }));
    this.words = element("details", {}, element("summary", {}, "Que palavras o modelo conhece?"));
    this.results.append(this.choice, table, this.facts, this.grid.root, this.words);
    this.draw();
  }

  async load() {
    this.ask.disabled = true;
    this.message.textContent = "Carregando o modelo…";
    try {
      this.network = new MaskedModel(await fetchBundle(this.model, this.signal));
    } catch {
      this.ask.disabled = false;
      this.message.textContent =
        "O modelo não chegou. No JupyterLab, execute a célula deste widget e tente de novo.";
      return;
    }
    this.ask.hidden = true;
    const known = this.network.words
      .slice(this.network.specials)
      .toSorted((a, b) => a.localeCompare(b, "pt-BR"));
    this.words.append(element("p", {}, known.join(", ")));
    this.draw();
    this.input.focus();
  }

  draw() {
    const text = this.model.get("text");
    if (this.input.value !== text) this.input.value = text;
    if (!this.network) return;
    if (this.shown?.text !== text) this.shown = { text, ...this.network.run(text) };
    const { refused, gaps, tokens } = this.shown;
    this.message.textContent = refused ?? "";
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

  drawWords({ logits, model, exact }) {
    const best = model.map((p, i) => Math.max(p, exact?.[i] ?? 0));
    const order = [...best.keys()].sort((a, b) => best[b] - best[a] || a - b).slice(0, ROWS);
    const share = (p) => {
      const bar = element("span", { class: "cw-bar", "aria-hidden": "true" });
      if (p === undefined) return element("td", {}, "—");
      bar.style.setProperty("--cw-weight", p);
      return element("td", {}, percentage(p), bar);
    };
    const rows = order.map((id) => {
      const word = element("th", { scope: "row" }, this.network.words[id]);
      const logit = element("td", {}, formatNumber(logits[id], 3));
      return element("tr", { "data-word": id }, word, logit, share(model[id]), share(exact?.[id]));
    });
    this.body.replaceChildren(...rows);
    this.facts.textContent = exact
      ? `Entropia do posterior exato: ${formatNumber(entropy(exact), 3)} nats. ` +
        `KL(exato ‖ modelo): ${formatNumber(divergence(exact, model), 3)} nats.`
      : "A gramática do curso nunca produz esta frase: o modelo responde, mas não há posterior exato com que comparar.";
  }

  drawAttention() {
    const { weights, tokens } = this.shown;
    const cell = this.model.get("cell").map((k) => clamp(k, tokens.length - 1));
    this.grid.draw(weights[this.model.get("layer") - 1][this.model.get("head") - 1], cell);
  }

  listen() {
    this.on(this.ask, "click", () => this.load());
    this.on(this.input, "input", () => this.set({ text: this.input.value, gap: 0 }));
    this.on(this.which, "change", () => this.set({ gap: Number(this.which.value) }));
    this.onChange(["example_index"], () => {
      this.set({ text: this.model.get("examples")[this.model.get("example_index")], gap: 0 });
    });
    this.onChange(["text", "gap", "layer", "head", "cell"], () => this.draw());
  }
}

export default { render: rendererOf(PageModelView) };
