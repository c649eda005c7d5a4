// @ts-check
// The corruption of masked language modelling: what the model sees, what it must predict, and how often.
import {
  View,
  element,
  field,
  formatNumber,
  isBetween,
  isPlaceIn,
  isText,
  numbersTable,
  rendererOf,
  textBox,
} from "./base.js";

const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const MASK = "[MASK]";
const SPACES = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";
const WORD = new RegExp(`[.,;:!?…]|[^${SPACES}.,;:!?…]+`, "gu");
const IGNORED = "−100";
const FATES = {
  masked: { symbol: "■", text: "virou [MASK]" },
  swapped: { symbol: "⇄", text: "virou outra palavra" },
  same: { symbol: "=", text: "ficou como era" },
};
const COLUMNS = ["", "vezes", "frequência", "esperada"];
const SHARES = ["rate_index", "mask_index", "random_index"];
const share = (x) => formatNumber(x, 3);

/** The Mersenne Twister with the seeding and the readings of torch.Generator: same seed, same draws as Python. */
class Twister {
  constructor(seed) {
    this.state = new Uint32Array(624);
    this.state[0] = seed;
    for (let i = 1; i < 624; i++) {
      const s = this.state[i - 1] ^ (this.state[i - 1] >>> 30);
      this.state[i] = Math.imul(1812433253, s) + i;
    }
    this.next = 624;
  }

  twist() {
    const s = this.state;
    for (let i = 0; i < 624; i++) {
      const y = (s[i] & 0x80000000) | (s[(i + 1) % 624] & 0x7fffffff);
      s[i] = s[(i + 397) % 624] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.next = 0;
  }

  bits() {
    if (this.next === 624) this.twist();
    let y = this.state[this.next++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** torch.rand in float64: 53 of 64 bits. */
  uniform() {
    const high = this.bits() & 0x1fffff;
    return (high * 2 ** 32 + this.bits()) * 2 ** -53;
  }

  below(n) {
    return this.bits() % n;
  }
}

/** One corruption: first where, then what happens there; one draw decides among the three fates. */
function corrupt(tokens, words, { rate, mask, keep }, seed) {
  const random = new Twister(seed);
  const selects = tokens.map(() => random.uniform());
  const decides = tokens.map(() => random.uniform());
  const others = tokens.map(() => words[random.below(words.length)]);
  return tokens.map((token, i) => {
    if (SPECIAL.includes(token) || selects[i] >= rate) return { token, seen: token, fate: null };
    const seen = decides[i] < mask ? MASK : decides[i] < 1 - keep ? others[i] : token;
    return { token, seen, fate: seen === MASK ? "masked" : seen === token ? "same" : "swapped" };
  });
}

/** Everything that the view shows, or `refused`: why there is nothing to show. */
function compute(model) {
  const sentence = model.get("text").match(WORD) ?? [];
  const limit = model.get("max_words");
  const [rate, mask, random] = ["rate", "mask", "random"].map(
    (name) => model.get("percentages")[model.get(`${name}_index`)],
  );
  const shares = {
    rate: rate / 100,
    mask: mask / 100,
    keep: (100 - mask - random) / 100,
    random: random / 100,
  };
  const seed = model.get("first_seed") + model.get("draws") - 1;
  if (!sentence.length) return { refused: "Escreva pelo menos uma palavra.", shares, seed };
  if (sentence.length > limit) {
    const refused = `São ${sentence.length} palavras; aqui cabem no máximo ${limit}. Encurte a frase.`;
    return { refused, shares, seed };
  }
  const tokens = ["[CLS]", ...sentence, "[SEP]"];
  const words = [...new Set([...model.get("vocabulary"), ...sentence])].filter(
    (word) => !SPECIAL.includes(word),
  );
  const times = { selected: 0, masked: 0, swapped: 0, same: 0 };
  let last;
  for (let k = model.get("first_seed"); k <= seed; k++) {
    last = corrupt(tokens, words, shares, k);
    for (const { fate } of last) {
      if (!fate) continue;
      times.selected += 1;
      times[fate] += 1;
    }
  }
  const maskable = tokens.filter((token) => !SPECIAL.includes(token)).length;
  const byChance = shares.random / words.length; // the random word may be the original again
  const expected = {
    selected: shares.rate,
    masked: shares.mask,
    swapped: Math.max(0, shares.random - byChance),
    same: shares.keep + byChance,
  };
  return { shares, seed, last, times, expected, among: maskable * model.get("draws"), words: words.length };
}

class CorruptionView extends View {
  static kept = {
    text: isText,
    ...Object.fromEntries(SHARES.map((name) => [name, isPlaceIn("percentages")])),
    draws: isBetween(1, (model) => model.get("max_draws")),
  };

  constructor(model) {
    super(model, { class: "cw cw-mlm", "data-lm-suppress-shortcuts": "true" });
    this.input = textBox("Frase");
    this.add(field("Frase", this.input));
    this.message = this.add(element("p", { class: "cw-refused", role: "status" }));
    this.split = this.add(element("p", { class: "cw-split" }));
    this.cards = this.add(element("ol", { class: "cw-tokens", "aria-label": "Tokens da frase corrompida" }));
    this.loss = this.add(element("p", { class: "cw-loss", role: "status" }));
    this.again = element("button", { type: "button", "data-draw": 1 }, "Sortear de novo");
    this.many = element("button", { type: "button", "data-draw": 100 }, "Sortear 100 vezes");
    this.restart = element("button", { type: "button" }, "Zerar a contagem");
    this.add(element("div", { class: "cw-field" }, this.again, this.many, this.restart));
    this.why = this.add(element("p", { class: "cw-why", role: "status" }));
    this.rows = {}; // the cells of each row, by its name
    const body = element("tbody");
    for (const [name, { text }] of Object.entries({ selected: { text: "selecionada" }, ...FATES })) {
      const cells = (this.rows[name] = COLUMNS.slice(1).map(() => element("td")));
      body.append(element("tr", { "data-row": name }, element("th", { scope: "row" }, text), ...cells));
    }
    this.add(numbersTable("Frequência contra probabilidade", COLUMNS, body));
    this.count = this.add(element("p", { class: "cw-count" }));
    this.makeRoom("mask_index", "random_index");
    this.draw();
  }

  draw() {
    const shown = compute(this.model);
    const { shares, refused } = shown;
    const text = this.model.get("text");
    if (this.input.value !== text) this.input.value = text;
    this.message.textContent = refused ?? "";
    this.split.textContent =
      `De cada 100 palavras selecionadas, em média: ${Math.round(shares.mask * 100)} viram [MASK], ` +
      `${Math.round(shares.random * 100)} são sorteadas de novo e ${Math.round(shares.keep * 100)} ficam.`;
    for (const part of [this.cards, this.loss, this.count]) part.hidden = Boolean(refused);
    const most = this.model.get("max_draws");
    const full = this.model.get("draws") >= most;
    for (const button of [this.again, this.many]) button.disabled = Boolean(refused) || full;
    this.why.textContent = full ? `São ${most} sorteios, o máximo: zere a contagem para sortear mais.` : "";
    this.restart.disabled = this.model.get("draws") === 1;
    if (refused) return this.drawNothing();
    this.cards.replaceChildren(...shown.last.map((token, i) => this.card(token, i)));
    this.drawLoss(shown);
    this.drawTable(shown);
  }

  card({ token, seen, fate }, i) {
    const line = (name, text) => element("span", { class: `cw-${name}`, "data-part": name }, text);
    const mark = fate ? `${FATES[fate].symbol} ${FATES[fate].text}` : "não selecionada";
    return element(
      "li",
      { "data-i": i, "data-fate": fate ?? "none" },
      line("original", token),
      line("seen", seen),
      line("label", fate ? token : IGNORED),
      line("mark", mark),
    );
  }

  /** @param {ReturnType<typeof compute>} shown */
  drawLoss({ last, seed }) {
    const counted = last.flatMap(({ fate }, i) => (fate ? [i] : []));
    const positions = counted.length
      ? `Contam na perda ${counted.length} de ${last.length} posições: ${counted.join(", ")}.`
      : `Nenhuma das ${last.length} posições conta: não há perda a calcular neste sorteio.`;
    this.loss.textContent = `${positions} Semente ${seed}.`;
  }

  /** @param {ReturnType<typeof compute>} shown */
  drawTable({ times, expected, among, words }) {
    for (const [name, [count, seen, wanted]] of Object.entries(this.rows)) {
      const total = name === "selected" ? among : times.selected;
      count.textContent = `${times[name]} de ${total}`;
      seen.textContent = total ? share(times[name] / total) : "—";
      wanted.textContent = share(expected[name]);
    }
    const draws = this.model.get("draws");
    this.count.textContent =
      `${draws} ${draws === 1 ? "sorteio" : "sorteios"}. A palavra sorteada é uma entre ${words}, ` +
      "e pode ser a própria: por isso “ficou como era” espera um pouco mais que o resto da divisão.";
  }

  drawNothing() {
    this.cards.replaceChildren();
    for (const cells of Object.values(this.rows)) for (const cell of cells) cell.textContent = "—";
  }

  /** As many more draws as there may be. */
  drawMore(draws) {
    this.set({ draws: Math.min(this.model.get("draws") + draws, this.model.get("max_draws")) });
  }

  /** The three shares sum to one: what one slider takes beyond that, the other gives. */
  makeRoom(changed, other) {
    const choices = this.model.get("percentages");
    const room = 100 - choices[this.model.get(changed)];
    if (choices[this.model.get(other)] > room) this.set({ [other]: choices.findLastIndex((p) => p <= room) });
  }

  listen() {
    this.on(this.input, "input", () => this.set({ text: this.input.value, draws: 1 }));
    this.on(this.restart, "click", () => this.set({ draws: 1 }));
    for (const button of [this.again, this.many]) {
      const draws = Number(button.dataset.draw);
      this.on(button, "click", () => this.drawMore(draws));
    }
    this.onChange(SHARES, () => this.set({ draws: 1 }));
    this.onChange(["mask_index"], () => this.makeRoom("mask_index", "random_index"));
    this.onChange(["random_index"], () => this.makeRoom("random_index", "mask_index"));
    this.onChange(["text", "draws", "first_seed", ...SHARES], () => this.draw());
  }
}

export default { render: rendererOf(CorruptionView) };
