// @ts-check
// WordPiece step by step: what the tokenizer makes of a text, and every look into its vocabulary.
import { View, clamp, element, field, isPlaceIn, isText, isWhole, rendererOf, textBox } from "./base.js";
import { Player } from "./player.js";

const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const AT_SPECIAL = /(\[(?:PAD|UNK|CLS|SEP|MASK)\])/;
const UNKNOWN = "[UNK]";
const UNTOLD = "…"; // a word that is still being cut
const BEAT_MS = 1100;
const CONTINUES = "##";
const PUNCTUATION = /([!-/:-@[-`{-~]|\p{P})/u;
const IDEOGRAPH =
  /[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu;
const TRIED = {
  true: { symbol: "✓", text: "está no vocabulário" },
  false: { symbol: "✗", text: "não está" },
};

/** What BERT's tokenizer does to a text before it cuts it. */
function normalise(text, { nfc, lowercase, strip_accents: stripAccents }) {
  let clean = (nfc ? text.normalize("NFC") : text)
    .replaceAll(/[\t\n\r]/g, " ")
    .replaceAll(/[\ufffd\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, "")
    .replaceAll(IDEOGRAPH, " $& ");
  if (stripAccents) clean = clean.normalize("NFD").replaceAll(/\p{Mn}/gu, "");
  // Character by character, as the library does: no special sigma at the end of a word.
  return lowercase ? [...clean].map((c) => c.toLowerCase()).join("") : clean;
}

/** The words: special tokens whole, the rest split at spaces, each punctuation mark alone. */
function wordsOf(text, reader) {
  return text.split(AT_SPECIAL).flatMap((part) => {
    if (SPECIAL.includes(part)) return [part];
    const words = normalise(part, reader).split(/\p{White_Space}+/u);
    return words.flatMap((word) => word.split(PUNCTUATION)).filter(Boolean);
  });
}

/** Always the longest piece that the vocabulary has, from left to right; if none fits, the word is unknown. */
function cut(word, ids, longestWord) {
  if (SPECIAL.includes(word)) return { tokens: [word], steps: [] };
  const characters = [...word];
  if (characters.length > longestWord) return { tokens: [UNKNOWN], steps: [] };
  const [tokens, steps] = [[], []];
  for (let start = 0, stop; start < characters.length; start = stop) {
    for (stop = characters.length; stop > start; stop--) {
      const piece = (start ? CONTINUES : "") + characters.slice(start, stop).join("");
      steps.push({ start, stop, piece, found: ids.has(piece) });
      if (ids.has(piece)) break;
    }
    if (stop === start) return { tokens: [UNKNOWN], steps };
    tokens.push(steps.at(-1).piece);
  }
  return { tokens, steps };
}

/** Everything that the view shows, or `refused`: why there is nothing to show. */
function compute(model, reader, ids) {
  const words = wordsOf(model.get("text"), reader);
  const limit = model.get("max_words");
  if (!words.length) return { refused: "Escreva pelo menos uma palavra." };
  if (words.length > limit) {
    return { refused: `São ${words.length} palavras; aqui cabem no máximo ${limit}. Encurte o texto.` };
  }
  const cuts = words.map((word) => cut(word, ids, model.get("longest_word")));
  const chosen = clamp(model.get("word"), words.length - 1);
  const { tokens, steps } = cuts[chosen];
  const step = clamp(model.get("step"), steps.length) || steps.length;
  return { words, cuts, chosen, word: words[chosen], tokens, steps, step };
}

class StepsView extends View {
  static kept = { reader_index: isPlaceIn("readers"), text: isText, word: isWhole, step: isWhole };

  constructor(model) {
    super(model, { class: "cw cw-wordpiece", "data-lm-suppress-shortcuts": "true" });
    const list = (name, label) => this.add(element("ol", { class: name, "aria-label": label }));
    this.input = textBox("Texto");
    this.add(field("Texto", this.input));
    this.message = this.add(element("p", { class: "cw-refused", role: "status" }));
    const words = { class: "cw-field", role: "group", "aria-label": "Palavra a seguir passo a passo" };
    this.words = this.add(element("div", words));
    this.player = new Player(this, {
      first: 1,
      last: () => this.shown.steps.length,
      at: () => this.shown.step,
      beat: () => BEAT_MS,
    });
    this.controls = this.add(this.player.root);
    this.place = this.add(element("p", { class: "cw-place" }));
    this.attempts = list("cw-attempts", "Consultas a partir deste ponto");
    this.verdict = this.add(element("p", { class: "cw-verdict", role: "status" }));
    this.tokens = list("cw-tokens", "Tokens do texto, com os seus números");
    this.read();
    this.draw();
  }

  /** The chosen tokenizer: what it does to a text, and the number of each of its tokens. */
  read() {
    this.reader = this.model.get("readers")[this.model.get("reader_index")];
    this.ids = new Map(this.reader.vocabulary.map((token, id) => [token, id]));
  }

  draw() {
    const text = this.model.get("text");
    if (this.input.value !== text) this.input.value = text;
    this.shown = compute(this.model, this.reader, this.ids);
    const { refused } = this.shown;
    this.message.textContent = refused ?? "";
    const parts = [this.tokens, this.words, this.place, this.attempts, this.verdict];
    for (const part of [...parts, this.controls]) part.hidden = Boolean(refused);
    if (refused) return parts.forEach((part) => part.replaceChildren());
    this.drawTokens();
    this.drawWords();
    this.drawStep();
  }

  drawTokens() {
    const { cuts, chosen, steps, step } = this.shown;
    const told = steps.slice(0, step).flatMap(({ piece, found }) => (found ? [piece] : []));
    const tokens = cuts.flatMap((word, k) =>
      k === chosen && step < steps.length ? [...told, UNTOLD] : word.tokens,
    );
    const items = tokens.map((token) => {
      const name = element("span", { "data-token": "" }, token);
      if (!this.ids.has(token)) return element("li", { title: "ainda não cortado" }, name);
      return element("li", {}, name, " ", element("small", {}, String(this.ids.get(token))));
    });
    this.tokens.replaceChildren(...items);
  }

  drawWords() {
    const { words, chosen } = this.shown;
    if (this.words.childElementCount !== words.length) {
      const buttons = words.map((_, k) => element("button", { type: "button", "data-word": k }));
      this.words.replaceChildren(...buttons);
    }
    [...this.words.children].forEach((button, k) => {
      button.textContent = words[k];
      button.setAttribute("aria-pressed", String(k === chosen));
    });
  }

  drawStep() {
    const { word, steps, step } = this.shown;
    const look = steps[step - 1];
    this.controls.hidden = this.place.hidden = this.attempts.hidden = !look;
    this.player.draw();
    this.verdict.textContent = this.verdictOf();
    if (!look) return;
    const characters = [...word];
    const piece = (name, from, to) =>
      element("span", { class: `cw-${name}` }, characters.slice(from, to).join(""));
    this.place.replaceChildren(
      `Passo ${step} de ${steps.length}: `,
      piece("done", 0, look.start),
      piece("tried", look.start, look.stop),
      piece("rest", look.stop),
    );
    this.attempts.replaceChildren(...this.looks().map((taken) => attempt(taken)));
  }

  looks() {
    const { steps, step } = this.shown;
    return steps.slice(0, step).filter(({ start }) => start === steps[step - 1].start);
  }

  verdictOf() {
    const { word, steps, step, tokens } = this.shown;
    if (SPECIAL.includes(word)) return `${word} é um token especial: não passa pela busca.`;
    if (!steps.length)
      return `Mais de ${this.model.get("longest_word")} caracteres: vira ${UNKNOWN} sem busca.`;
    const found = steps
      .slice(0, step)
      .filter((look) => look.found)
      .map((look) => look.piece);
    const pieces = found.length ? `Pedaços até aqui: ${found.join(" ")}.` : "Nenhum pedaço ainda.";
    if (step < steps.length) return pieces;
    const looks = `${steps.length} ${steps.length === 1 ? "consulta" : "consultas"} ao vocabulário`;
    if (tokens[0] === UNKNOWN)
      return `Nada serve daqui em diante: a palavra inteira vira ${UNKNOWN}, após ${looks}.`;
    return `Pronto, após ${looks}: ${tokens.join(" ")}.`;
  }

  /** Another word to cut: from its first step, or, where the reader still types, with all of them taken. */
  restart(values, step) {
    this.player.stop();
    this.set({ ...values, step });
  }

  listen() {
    this.on(this.input, "input", () => this.restart({ text: this.input.value, word: 0 }, 0));
    this.player.listen();
    this.on(this.words, "click", ({ target }) => {
      const button = target.closest("[data-word]");
      if (button) this.restart({ word: Number(button.dataset.word) }, 1);
    });
    this.onChange(["readers", "reader_index"], () => {
      this.read();
      this.restart({ word: 0 }, 0);
    });
    this.onChange(["readers", "reader_index", "text", "word", "step"], () => this.draw());
  }
}

function attempt({ piece, found }) {
  const { symbol, text } = TRIED[found];
  const mark = element("span", { class: "cw-symbol", "aria-hidden": "true" }, symbol);
  const tried = element("span", { "data-piece": "" }, piece);
  return element("li", { "data-found": found }, tried, " ", mark, " ", element("small", {}, text));
}

export default { render: rendererOf(StepsView) };
