// @ts-check
// The course's masked language model in plain JavaScript: its file, its forward pass, the sentence that it reads.
import { softmax } from "./base.js";
import { bytesOf, dot, half } from "./arrays.js";
import { Grammar, MASK_ID } from "./posterior.js";

export const MASK = "[MASK]";
const [CLS_ID, SEP_ID] = [2, 3];
const HIDE = "Clique em uma palavra para escondê-la.";
export const WORD = /[^ \t\n\r\u00a0\u3000.,;:!?…]+/g;

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

export class MaskedModel {
  constructor({ layers, heads, positions, normEps, specials, words, tensors }) {
    this.layers = layers;
    this.heads = heads;
    this.positions = positions;
    this.normEps = normEps;
    this.specials = specials;
    this.words = words;
    this.tensors = readTensors(tensors);
    this.grammar = new Grammar(this.tensors, words.length);
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
      return {
        refused: `O modelo só conhece ${known} palavras; estas não: ${unknown.join(" ")}. ${HIDE}`,
        unknown,
      };
    if (!ids.includes(MASK_ID)) return { refused: `A frase está completa. ${HIDE}` };
    return { ids: [CLS_ID, ...ids, SEP_ID] };
  }

  /** All that can be shown of a sentence: one entry per gap, and the attention of every head. */
  run(text) {
    const { ids, refused, unknown } = this.read(text);
    if (refused) return { refused, unknown };
    const { hidden, weights } = this.encode(ids);
    const posteriors = this.grammar.posterior(ids.slice(1, -1));
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
}
