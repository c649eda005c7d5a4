// @ts-check
// The mask explorer: scores of a sentence, a mask, the softmax, and the arithmetic of any cell.
import {
  View,
  clamp,
  element,
  formatNumber,
  isBetween,
  isCell,
  isPlaceIn,
  rendererOf,
  softmax,
} from "./base.js";
import { onCell, squareTable, walkCells } from "./weights.js";

const isFuture = (i, j) => j > i;
const isPadding = (i, j, realTokens) => j >= realTokens;

// For each kind: `hides(i, j, realTokens)` says which scores are hidden before the softmax, and `text` what it is.
// `padded` kinds end the sentence in [PAD]; `hiddenScore` is what takes the place of a hidden score; `after` masks
// the weights instead of the scores.
const KINDS = {
  causal: { hides: isFuture, text: "Cada token vê a si mesmo e o passado." },
  bidirecional: { hides: () => false, text: "Cada token vê a frase inteira, como em um codificador." },
  padding: {
    padded: true,
    hides: isPadding,
    text: "Só os tokens reais são vistos. As linhas dos [PAD] também são calculadas, mas o modelo as descarta.",
  },
  causal_padding: {
    padded: true,
    hides: (i, j, realTokens) => isFuture(i, j) || isPadding(i, j, realTokens),
    text: "Cada token vê a si mesmo e o passado, e ninguém vê os [PAD]; as linhas deles o modelo descarta.",
  },
  diagonal: {
    mistake: "diagonal escondida",
    hides: (i, j) => j >= i,
    text: "Nenhum token vê a si mesmo, e o primeiro não vê nada.",
  },
  invertida: {
    mistake: "booleano invertido",
    hides: (i, j) => !isFuture(i, j),
    text: "“Permitir” foi lido como “esconder”: cada token vê só o futuro, e o último não vê nada.",
  },
  depois: {
    mistake: "máscara depois da softmax",
    hides: () => false,
    after: isFuture,
    text: "O futuro já tinha entrado no denominador: nas linhas que têm futuro, o que sobra soma menos de 1.",
  },
  esquecida: {
    mistake: "máscara esquecida",
    hides: () => false,
    text: "Todo token vê o futuro que deveria prever.",
  },
  zerada: {
    mistake: "zero no lugar de −∞",
    hides: isFuture,
    hiddenScore: 0,
    text: "e⁰ = 1 é um peso como outro qualquer: o futuro continua visível.",
  },
};

const GRID_LABEL = "Pesos de atenção A; as setas do teclado mudam de célula";
const HIDDEN = "escondido pela máscara";
const NOTHING = "—";
const UNDERFLOW =
  "Com estas pontuações, a exponencial do futuro é tão pequena que o computador a arredonda para zero.";
const WHY_UNUSED = "“Tokens reais” só muda as máscaras com [PAD]; nas outras, todos os tokens são reais.";
const WHY_NOTHING = "todas as pontuações da linha são −∞, e a softmax seria 0/0";
const MARKS = {
  leak: { symbol: "▲", text: "futuro que vazou" },
  lost: { symbol: "▽", text: "escondido por engano" },
};

const CELL_DIGITS = 3;
const STEP_DIGITS = 4;
/** A future that is seen is never written as zero. */
const number = (x) => formatNumber(x, CELL_DIGITS, { tiny: true });
const precise = (x) => (x === 0 ? "0" : formatNumber(x, STEP_DIGITS, { tiny: true }));
const score = (x) => formatNumber(x, 2);
/** Up to four decimals, at least two: what a reader needs to redo the arithmetic. */
const trimmed = (x) => formatNumber(x, STEP_DIGITS).replace(/0{1,2}$/, "");

/** Everything that the view shows, computed from the model's state alone. */
function compute(model) {
  const scores = model.get("scores");
  const kind = KINDS[model.get("kinds")[model.get("kind_index")]];
  const dK = model.get("d_k_choices")[model.get("d_k_index")];
  const temperature = model.get("temperatures")[model.get("temperature_index")];
  const realTokens = model.get("real_tokens");
  const tokens = model.get("tokens").map((token, j) => (kind.padded && j >= realTokens ? "[PAD]" : token));
  const scale = Math.sqrt(dK) * temperature;
  const rows = scores.map((row, i) => {
    const hidden = row.map((_, j) => kind.hides(i, j, realTokens));
    const entering = row.map((s, j) => (hidden[j] ? (kind.hiddenScore ?? -Infinity) : s));
    const logits = entering.map((s) => s / scale);
    const soft = softmax(logits);
    const weights = soft.weights.map((w, j) => (kind.after?.(i, j) ? 0 : w));
    const sum = weights.reduce((a, b) => a + b, 0);
    return { hidden, entering, logits, soft, weights, sum, empty: soft.sum === 0 };
  });
  return { scores, kind, dK, temperature, tokens, rows };
}

/** Where a wrong mask differs from the causal one: the future seen, or the past and present lost. */
function markOf({ kind, rows }, i, j) {
  if (!kind.mistake) return "";
  if (isFuture(i, j)) return rows[i].weights[j] > 0 ? "leak" : "";
  return rows[i].hidden[j] ? "lost" : "";
}

/** Whether a mask that hides nothing shows no future at all, since the computer rounds its exponential to zero. */
function isUnderflow({ kind, rows }, future) {
  if (!kind.mistake || kind.after || Math.max(0, ...future) > 0) return false;
  const isSeen = (row, i, j) => isFuture(i, j) && ("hiddenScore" in kind || !row.hidden[j]);
  return rows.some((row, i) => row.weights.some((_, j) => isSeen(row, i, j)));
}

/** The two numbers that tell a right mask from a wrong one. */
function factsOf({ kind, rows }) {
  const future = rows.flatMap((row, i) => row.weights.filter((_, j) => isFuture(i, j)));
  const sums = rows.filter((row) => !row.empty).map((row) => row.sum);
  const empty = rows.flatMap((row, i) => (row.empty ? [i + 1] : []));
  const parts = [
    `Maior peso no futuro: ${number(Math.max(0, ...future))}.`,
    isUnderflow({ kind, rows }, future) ? UNDERFLOW : "",
    sums.length ? `Soma das linhas: de ${number(Math.min(...sums))} a ${number(Math.max(...sums))}.` : "",
    empty.length ? `Linha ${empty.join(", ")}: nada a atender (${NOTHING}); ${WHY_NOTHING}.` : "",
  ];
  return parts.filter(Boolean).join(" ");
}

/** The arithmetic of cell (i, j), one [name, text] per step. */
function stepsOf({ scores, kind, dK, temperature, rows }, i, j) {
  const { hidden, entering, logits, soft, weights, empty } = rows[i];
  const s = scores[i][j];
  const steps = [["pontuação", masking(s, hidden[j], entering[j], kind)]];
  const scale = `(√${dK} · ${trimmed(temperature)})`;
  steps.push(["escala", `${trimmed(entering[j])} / ${scale} = ${precise(logits[j])}`]);
  if (empty) return [...steps, ["softmax", `nada a atender: ${WHY_NOTHING}; o peso fica em 0`]];
  steps.push(["máximo", `o maior da linha é ${precise(soft.max)}`]);
  const difference = `${precise(logits[j])} − ${inParentheses(soft.max)}`;
  steps.push(["exponencial", `exp(${difference}) = ${precise(soft.exps[j])}`]);
  steps.push(["soma", `${soft.exps.map(precise).join(" + ")} = ${precise(soft.sum)}`]);
  const ratio = `${precise(soft.exps[j])} / ${precise(soft.sum)} = ${precise(soft.weights[j])}`;
  if (!kind.after) return [...steps, ["peso", ratio]];
  const product = `${precise(soft.weights[j])} · ${kind.after(i, j) ? 0 : 1} = ${precise(weights[j])}`;
  return [...steps, ["softmax", ratio], ["peso", product]];
}

function masking(s, isHidden, entering, kind) {
  if (isHidden && "hiddenScore" in kind) return `${trimmed(s)} trocado por ${trimmed(entering)}`;
  return `${trimmed(s)} + ${isHidden ? "(−∞)" : "0"} = ${trimmed(entering)}`;
}

const inParentheses = (x) => (x < 0 ? `(${precise(x)})` : precise(x));

class MaskView extends View {
  static kept = {
    kind_index: isPlaceIn("kinds"),
    d_k_index: isPlaceIn("d_k_choices"),
    temperature_index: isPlaceIn("temperatures"),
    real_tokens: isBetween(1, (model) => model.get("tokens").length),
    cell: isCell,
  };

  constructor(model) {
    super(model, { class: "cw cw-mask" });
    this.why = this.add(element("p", { class: "cw-why", role: "status" }));
    this.formula = this.add(element("p", { class: "cw-formula" }));
    this.grids = this.add(element("div", { class: "cw-grids cw-weights" }));
    this.verdict = this.add(element("p", { class: "cw-verdict" }));
    this.facts = this.add(element("p", { class: "cw-facts" }));
    const heard = { "aria-live": "polite", "aria-atomic": "true" };
    this.steps = this.add(element("div", { class: "cw-steps", ...heard }));
    this.add(legend());
    this.build();
  }

  /** The two tables, for the number of tokens there is; `draw` fills them. */
  build() {
    const n = this.model.get("tokens").length;
    const role = { role: "gridcell" };
    const grid = { role: "grid", "aria-label": GRID_LABEL };
    const scores = squareTable(n, "Pontuações com a máscara, S + M", {}, { "data-grid": "score" });
    const weights = squareTable(n, "Pesos de atenção A", grid, { ...role, "data-grid": "weight" });
    this.headers = [...scores.headers, ...weights.headers];
    this.cells = { score: scores.cells, weight: weights.cells };
    this.sums = weights.cells.map((_, i) => element("td", { ...role, class: "cw-sum", "data-sum": i }));
    const sums = [element("th", { scope: "col", class: "cw-sum" }, "soma"), ...this.sums];
    weights.rows.forEach((row, i) => row.append(sums[i]));
    this.grids.replaceChildren(scores.table, weights.table);
    this.draw();
  }

  draw() {
    this.shown = compute(this.model);
    const { kind, dK, temperature, tokens, rows } = this.shown;
    const formula = kind.after ? "softmax(S / (√dₖ · T)) ⊙ máscara" : "softmax((S + M) / (√dₖ · T))";
    this.formula.textContent = `A = ${formula}, com dₖ = ${dK} e T = ${trimmed(temperature)}`;
    this.headers.forEach((th, k) => {
      th.textContent = th.title = tokens[k % tokens.length];
    });
    rows.forEach((row, i) => {
      row.weights.forEach((_, j) => this.drawCell(i, j));
      this.sums[i].textContent = row.empty ? NOTHING : number(row.sum);
    });
    this.tellUse(!kind.padded);
    this.verdict.textContent = kind.mistake ? `Erro: ${kind.mistake}. ${kind.text}` : kind.text;
    this.verdict.classList.toggle("cw-mistake", Boolean(kind.mistake));
    this.facts.textContent = factsOf(this.shown);
    this.select();
  }

  /** The slider of real tokens is enabled, through a link, only while it has something to say. */
  tellUse(unused) {
    this.why.textContent = unused ? WHY_UNUSED : "";
    if (this.model.get("padding_unused") !== unused) this.set({ padding_unused: unused });
  }

  drawCell(i, j) {
    const { rows, kind } = this.shown;
    const { entering, weights, hidden, empty } = rows[i];
    const scoreCell = this.cells.score[i][j];
    scoreCell.textContent = score(entering[j]);
    scoreCell.classList.toggle("cw-hidden", hidden[j]);
    const weightCell = this.cells.weight[i][j];
    const mark = markOf(this.shown, i, j);
    const masked = hidden[j] || Boolean(kind.after?.(i, j));
    weightCell.textContent = empty ? NOTHING : number(weights[j]);
    weightCell.style.setProperty("--cw-weight", weights[j]);
    weightCell.dataset.mark = mark;
    weightCell.classList.toggle("cw-hidden", masked);
    const meaning = MARKS[mark]?.text ?? (masked ? HIDDEN : "");
    weightCell.setAttribute("aria-label", [weightCell.textContent, meaning].filter(Boolean).join(", "));
  }

  /** Mark the chosen cell, the only one in the tab order, and write out its arithmetic. */
  select() {
    const last = this.sums.length - 1;
    const [ci, cj] = this.model.get("cell").map((k) => clamp(k, last));
    for (const grid of ["score", "weight"]) {
      this.cells[grid].forEach((row, i) =>
        row.forEach((cell, j) => {
          const chosen = i === ci && j === cj;
          cell.classList.toggle("cw-selected", chosen);
          if (grid === "weight") cell.tabIndex = chosen ? 0 : -1;
        }),
      );
    }
    this.explain(ci, cj);
  }

  explain(i, j) {
    const { tokens } = this.shown;
    const title = `“${tokens[i]}” (linha ${i + 1}) olha para “${tokens[j]}” (coluna ${j + 1})`;
    const lines = stepsOf(this.shown, i, j).map(([name, text]) =>
      element("div", { "data-step": name }, element("dt", {}, name), element("dd", {}, text)),
    );
    this.steps.replaceChildren(element("p", { class: "cw-steps-title" }, title), element("dl", {}, ...lines));
  }

  listen() {
    const cells = () => this.cells.weight;
    walkCells(this, this.grids, cells, (cell) => this.set({ cell }));
    onCell(this, this.grids, "pointerover", ([i, j]) => this.explain(i, j));
    this.on(this.grids, "pointerleave", () => this.select());
    this.onChange(["tokens", "scores"], () => this.build());
    this.onChange(["kind_index", "d_k_index", "temperature_index", "real_tokens"], () => this.draw());
    this.onChange(["cell"], () => this.select());
  }
}

function legend() {
  const key = (symbol, text, style = "") =>
    element("li", {}, element("span", { class: `cw-key ${style}`, "aria-hidden": "true" }, symbol), text);
  const marks = Object.values(MARKS).map(({ symbol, text }) => key(symbol, text));
  return element(
    "ul",
    { class: "cw-legend", "aria-label": "Legenda" },
    key("", HIDDEN, "cw-hidden"),
    ...marks,
  );
}

export default { render: rendererOf(MaskView) };
