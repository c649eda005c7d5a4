// @ts-check
// The model in the page: what was in the gap, by the model and by the exact posterior, and where each head looks.
import { element, formatNumber, lifecycle, nameSliders } from "./base.js";
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

class PageModelView {
  constructor(model, signal) {
    this.model = model;
    this.signal = signal;
    this.input = element("input", {
      type: "text",
      "aria-label": "Frase com [MASK]",
      spellcheck: "false",
      autocomplete: "off",
    });
    this.ask = element("button", { type: "button" }, `Carregar o modelo (${model.get("kilobytes")} kB)`);
    this.message = element("p", { class: "cw-refused", role: "status" });
    this.which = element("select", { "aria-label": "Lacuna" });
    this.choice = element(
      "div",
      { class: "cw-field" },
      element("span", { "aria-hidden": "true" }, "Lacuna"),
      this.which,
    );
    this.body = element("tbody");
    this.facts = element("p", { class: "cw-facts" });
    this.grid = new WeightGrid("Atenção do modelo, em %: a linha olha para a coluna", (cell) =>
      this.set({ cell }),
    );
    this.words = element("details", {}, element("summary", {}, "Que palavras o modelo conhece?"));
    this.results = element(
      "div",
      { class: "cw-results" },
      this.choice,
      this.table(),
      this.facts,
      this.grid.root,
      this.words,
    );
    this.root = element(
      "div",
      { class: "cw cw-page-model", "data-lm-suppress-shortcuts": "true" },
      element("div", { class: "cw-field" }, element("span", { "aria-hidden": "true" }, "Frase"), this.input),
      element("div", { class: "cw-field" }, this.ask),
      this.message,
      this.results,
    );
    this.results.hidden = true;
    this.draw();
  }

  table() {
    const head = ["palavra", "logit", "modelo", "exato"].map((text) => element("th", { scope: "col" }, text));
    return element(
      "table",
      { class: "cw-numbers" },
      element("caption", {}, "O que havia na lacuna?"),
      element("thead", {}, element("tr", {}, ...head)),
      this.body,
    );
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
    const k = Math.min(Math.max(this.model.get("gap"), 0), gaps.length - 1);
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
    this.body.replaceChildren(
      ...order.map((id) =>
        element(
          "tr",
          { "data-word": id },
          element("th", { scope: "row" }, this.network.words[id]),
          element("td", {}, formatNumber(logits[id], 3)),
          share(model[id]),
          share(exact?.[id]),
        ),
      ),
    );
    this.facts.textContent = exact
      ? `Entropia do posterior exato: ${formatNumber(entropy(exact), 3)} nats. ` +
        `KL(exato ‖ modelo): ${formatNumber(divergence(exact, model), 3)} nats.`
      : "A gramática do curso nunca produz esta frase: o modelo responde, mas não há posterior exato com que comparar.";
  }

  drawAttention() {
    const { weights, tokens } = this.shown;
    const cell = this.model.get("cell").map((k) => Math.min(Math.max(k, 0), tokens.length - 1));
    this.grid.draw(weights[this.model.get("layer") - 1][this.model.get("head") - 1], cell);
  }

  set(values) {
    for (const [name, value] of Object.entries(values)) this.model.set(name, value);
    this.model.save_changes();
  }

  listen({ signal, onChange }) {
    const on = (target, type, listener) => target.addEventListener(type, listener, { signal });
    this.grid.listen(signal);
    on(this.ask, "click", () => this.load());
    on(this.input, "input", () => this.set({ text: this.input.value, gap: 0 }));
    on(this.which, "change", () => this.set({ gap: Number(this.which.value) }));
    onChange(["example_index"], () => {
      this.set({ text: this.model.get("examples")[this.model.get("example_index")], gap: 0 });
    });
    onChange(["text", "gap", "layer", "head", "cell"], () => this.draw());
  }
}

function render({ model, el }) {
  const life = lifecycle(model);
  const view = new PageModelView(model, life.signal);
  view.listen(life);
  el.append(view.root);
  nameSliders(el, life.signal);
  return life.end;
}

export default { render };
