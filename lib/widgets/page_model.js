// @ts-check
// The model in the page: a masked language model and the exact posterior of its grammar, in plain JavaScript.
import { element, formatNumber, lifecycle, nameSliders, softmax } from "./base.js";
import { bytesOf, dot, half } from "./arrays.js";
import { WeightGrid, percentage } from "./weights.js";

const MASK = "[MASK]";
const [CLS_ID, SEP_ID, MASK_ID] = [2, 3, 4];
const ROWS = 8;
const WORD = /[^ \t\n\r\u00a0\u3000.,;:!?…]+/g;
const SCRIPT = "../../course_model.js"; // from where the script that draws the widgets is
const PATIENCE_MS = 20000; // a busy kernel may take its time

// --- the file of numbers: safetensors

const READERS = {
  F16: (bytes) => Float64Array.from(new Uint16Array(bytes), half),
  F64: (bytes) => new Float64Array(bytes),
  I16: (bytes) => new Int16Array(bytes),
};

/** The tensors of a safetensors file, each as a flat array: length of the header, header, numbers. */
function readTensors(base64) {
  const buffer = bytesOf(base64);
  const start = 8 + Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(buffer.slice(8, start)));
  return Object.fromEntries(
    Object.entries(header).flatMap(([name, { dtype, data_offsets: range }]) =>
      range ? [[name, READERS[dtype](buffer.slice(start + range[0], start + range[1]))]] : [],
    ),
  );
}

// --- the forward pass

/** The error function, by formula 7.1.26 of Abramowitz and Stegun: at most 1.5e-7 away. */
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const p = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * (1 - p * Math.exp(-x * x));
}

const gelu = (x) => 0.5 * x * (1 + erf(x / Math.SQRT2));
const plus = (a, b) => a.map((x, k) => x + b[k]);

class MaskedModel {
  constructor({ layers, heads, positions, normEps, specials, words, tensors }) {
    this.layers = layers;
    this.heads = heads;
    this.positions = positions;
    this.normEps = normEps;
    this.specials = specials;
    this.words = words;
    this.tensors = readTensors(tensors);
    this.ids = new Map(this.words.map((word, i) => [word, i]));
  }

  linear(name, x) {
    const { [`${name}.weight`]: weight, [`${name}.bias`]: bias } = this.tensors;
    return bias.map((b, row) => b + dot(x, weight, row * x.length));
  }

  norm(name, x) {
    const { [`${name}.weight`]: weight, [`${name}.bias`]: bias } = this.tensors;
    const mean = x.reduce((a, b) => a + b) / x.length;
    const variance = x.reduce((sum, v) => sum + (v - mean) ** 2, 0) / x.length;
    const scale = 1 / Math.sqrt(variance + this.normEps);
    return x.map((v, k) => (v - mean) * scale * weight[k] + bias[k]);
  }

  embed(id, position) {
    const { tensors } = this;
    const d = tensors["encoder.embeddings.norm.bias"].length;
    const row = (table, i) => tensors[`encoder.embeddings.${table}.weight`].subarray(i * d, (i + 1) * d);
    const sum = plus(plus(row("token", id), row("segment", 0)), row("position", position));
    return this.norm("encoder.embeddings.norm", sum);
  }

  /** Every position looks at every other: the weights of each head, and the heads side by side. */
  attend(name, x) {
    const [q, k, v] = ["W_Q", "W_K", "W_V"].map((matrix) =>
      x.map((row) => this.linear(`${name}.${matrix}`, row)),
    );
    const size = q[0].length / this.heads;
    const part = (row, h) => row.subarray(h * size, (h + 1) * size);
    const weights = Array.from({ length: this.heads }, (_, h) =>
      q.map((query) => softmax(k.map((key) => dot(part(query, h), part(key, h)) / Math.sqrt(size))).weights),
    );
    const columns = Array.from(v[0], (_, c) => v.map((row) => row[c]));
    const mixed = x.map((_, i) =>
      Float64Array.from(columns, (column, c) => dot(weights[Math.floor(c / size)][i], column)),
    );
    return { weights, output: mixed.map((row) => this.linear(`${name}.W_O`, row)) };
  }

  /** Hidden states of the tokens, and the attention weights by layer and head. */
  encode(ids) {
    let x = ids.map((id, i) => this.embed(id, i));
    const weights = [];
    for (let layer = 0; layer < this.layers; layer++) {
      const block = `encoder.blocks.${layer}`;
      const attended = this.attend(`${block}.attention`, x);
      weights.push(attended.weights);
      x = x.map((row, i) => this.norm(`${block}.norm_1`, plus(row, attended.output[i])));
      x = x.map((row) => {
        const inner = this.linear(`${block}.feed_forward.W_1`, row).map(gelu);
        return this.norm(`${block}.norm_2`, plus(row, this.linear(`${block}.feed_forward.W_2`, inner)));
      });
    }
    return { hidden: x, weights };
  }

  /** One logit for each word: the row of the token table that is most like the hidden state wins. */
  logits(hidden) {
    const t = this.norm("head.norm", this.linear("head.W", hidden).map(gelu));
    const table = this.tensors["encoder.embeddings.token.weight"];
    return Array.from(this.tensors["head.bias"], (b, id) => b + dot(t, table, id * t.length));
  }

  // --- the sentence

  idOf(word) {
    const small = word.toLowerCase();
    const forms = [word, small, word.charAt(0).toUpperCase() + small.slice(1)];
    return forms.map((form) => this.ids.get(form)).find((id) => id >= this.specials || id === MASK_ID);
  }

  /** The ids of a sentence with [CLS] and [SEP], or why it cannot be read. */
  read(text) {
    const words = (text.match(WORD) ?? []).map((word) => (word.toUpperCase() === MASK ? MASK : word));
    const longest = this.positions - 2;
    if (!words.length) return { refused: `Escreva uma frase com ${MASK} no lugar de uma palavra.` };
    if (words.length > longest) {
      return { refused: `A frase tem ${words.length} palavras; o modelo lê no máximo ${longest}.` };
    }
    const ids = words.map((word) => this.idOf(word));
    const unknown = words.filter((_, i) => ids[i] === undefined);
    const known = this.words.length - this.specials;
    if (unknown.length)
      return { refused: `O modelo só conhece ${known} palavras; estas não: ${unknown.join(" ")}` };
    if (!ids.includes(MASK_ID))
      return { refused: `Falta a lacuna: escreva ${MASK} no lugar de uma palavra.` };
    return { ids: [CLS_ID, ...ids, SEP_ID] };
  }

  /** All that can be shown of a sentence: one entry per gap, and the attention of every head. */
  run(text) {
    const { ids, refused } = this.read(text);
    if (refused) return { refused };
    const { hidden, weights } = this.encode(ids);
    const posteriors = this.posterior(ids.slice(1, -1));
    const gaps = ids.flatMap((id, i) => (id === MASK_ID ? [i] : []));
    return {
      tokens: ids.map((id) => this.words[id]),
      weights,
      gaps: gaps.map((place) => {
        const logits = this.logits(hidden[place]);
        return { place, logits, model: softmax(logits).weights, exact: posteriors?.[place - 1] };
      }),
    };
  }

  // --- the exact posterior: forward and backward over the automaton of the grammar

  /** P(word | the other words) at each gap, or null for what the grammar never gives. */
  posterior(ids) {
    const grammar = (name) => this.tensors[`grammar.${name}`];
    const [source, target, kind, chance] = ["arc_source", "arc_target", "arc_class", "arc_probability"].map(
      grammar,
    );
    const [emitter, emitted, emission] = ["emission_class", "emission_word", "emission_value"].map(grammar);
    const end = grammar("node_end");
    const classes = 1 + Math.max(...emitter);
    const likelihood = ids.map((id) => {
      const seen = new Float64Array(classes);
      for (let e = 0; e < emission.length; e++) {
        if (id === MASK_ID || id === emitted[e]) seen[emitter[e]] += emission[e];
      }
      return seen;
    });
    const total = (numbers) => numbers.reduce((a, b) => a + b, 0);
    const forward = [new Float64Array(end.length)];
    forward[0].set(grammar("topic_prior"));
    for (const seen of likelihood) {
      const next = new Float64Array(end.length);
      const before = forward.at(-1);
      // The automaton has ten thousand arcs, walked twice for each word: plain loops keep that under a millisecond.
      for (let a = 0; a < chance.length; a++)
        next[target[a]] += before[source[a]] * chance[a] * seen[kind[a]];
      const scale = total(next);
      if (scale === 0) return null;
      forward.push(next.map((x) => x / scale));
    }
    if (dot(end, forward.at(-1)) === 0) return null;
    let ahead = end;
    const posteriors = [];
    for (let i = ids.length - 1; i >= 0; i--) {
      const byClass = new Float64Array(classes);
      const before = new Float64Array(end.length);
      for (let a = 0; a < chance.length; a++) {
        const onward = chance[a] * ahead[target[a]];
        byClass[kind[a]] += forward[i][source[a]] * onward;
        before[source[a]] += onward * likelihood[i][kind[a]];
      }
      if (ids[i] === MASK_ID) posteriors[i] = this.wordsOf(byClass);
      const largest = before.reduce((a, b) => Math.max(a, b));
      ahead = before.map((x) => x / largest);
    }
    return posteriors;
  }

  /** The distribution over words of a distribution over word classes, which need not sum to one. */
  wordsOf(byClass) {
    const [emitter, emitted, emission] = ["emission_class", "emission_word", "emission_value"].map(
      (name) => this.tensors[`grammar.${name}`],
    );
    const words = new Float64Array(this.words.length);
    emission.forEach((value, e) => {
      words[emitted[e]] += byClass[emitter[e]] * value;
    });
    const scale = words.reduce((a, b) => a + b, 0);
    return words.map((x) => x / scale);
  }
}

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
