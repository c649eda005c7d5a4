// @ts-check
// The mask explorer: scores of a sentence, a mask, the softmax, and the arithmetic of any cell.
import { element, formatNumber, lifecycle, moveInGrid, nameSliders, softmax } from "./base.js";

const isFuture = (i, j) => j > i;
const isPadding = (i, j, realTokens) => j >= realTokens;

// For each kind: `hides(i, j, realTokens)` says which scores are hidden before the softmax, and `text` what it is.
// `padded` kinds end the sentence in [PAD]; `hiddenScore` is what takes the place of a hidden score; `after` masks
// the weights instead of the scores.
const KINDS = {
  causal: {
    hides: isFuture,
    text: "Cada token vê a si mesmo e o passado.",
  },
  bidirecional: {
    hides: () => false,
    text: "Cada token vê a frase inteira, como em um codificador.",
  },
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
const WHY_NOTHING = "todos os escores da linha são −∞, e a softmax seria 0/0";
const MARKS = {
  leak: { symbol: "▲", text: "futuro que vazou" },
  lost: { symbol: "▽", text: "escondido por engano" },
};

const CELL_DIGITS = 3;
const STEP_DIGITS = 4;
const number = (x) => formatNumber(x, CELL_DIGITS);
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

/** The two numbers that tell a right mask from a wrong one. */
function factsOf({ rows }) {
  const future = rows.flatMap((row, i) => row.weights.filter((_, j) => isFuture(i, j)));
  const sums = rows.filter((row) => !row.empty).map((row) => row.sum);
  const empty = rows.flatMap((row, i) => (row.empty ? [i + 1] : []));
  const parts = [
    `Maior peso no futuro: ${number(Math.max(0, ...future))}.`,
    sums.length ? `Soma das linhas: de ${number(Math.min(...sums))} a ${number(Math.max(...sums))}.` : "",
    empty.length ? `Linha ${empty.join(", ")}: nada a atender (${NOTHING}); ${WHY_NOTHING}.` : "",
  ];
  return parts.filter(Boolean).join(" ");
}

/** The arithmetic of cell (i, j), one [name, text] per step. */
function stepsOf({ scores, kind, dK, temperature, rows }, i, j) {
  const { hidden, entering, logits, soft, weights, empty } = rows[i];
  const s = scores[i][j];
  const steps = [["escore", masking(s, hidden[j], entering[j], kind)]];
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

class MaskView {
  constructor(model) {
    this.model = model;
    this.formula = element("p", { class: "cw-formula" });
    this.grids = element("div", { class: "cw-grids" });
    this.verdict = element("p", { class: "cw-verdict" });
    this.facts = element("p", { class: "cw-facts" });
    this.steps = element("div", { class: "cw-steps", "aria-live": "polite", "aria-atomic": "true" });
    this.root = element(
      "div",
      { class: "cw cw-mask" },
      this.formula,
      this.grids,
      this.verdict,
      this.facts,
      this.steps,
      legend(),
    );
    this.build();
  }

  /** The two tables, for the number of tokens there is; `draw` fills them. */
  build() {
    const n = this.model.get("tokens").length;
    this.headers = []; // [<th>, position of its token]
    this.sums = []; // sums[i]: the <td> of a row's sum
    this.cells = { score: [], weight: [] }; // cells[grid][i][j]: a <td>
    this.grids.replaceChildren(
      this.table("score", n, "Escores com a máscara, S + M", {}),
      this.table("weight", n, "Pesos de atenção A", { role: "grid", "aria-label": GRID_LABEL }),
    );
    this.draw();
  }

  table(grid, n, title, attributes) {
    const positions = [...Array(n).keys()];
    const head = element("tr", {}, element("td"), ...positions.map((j) => this.header(j, "col")));
    if (grid === "weight") head.append(element("th", { scope: "col", class: "cw-sum" }, "soma"));
    const rows = positions.map((i) => this.row(grid, i, positions));
    const body = element("tbody", {}, ...rows);
    return element("table", attributes, element("caption", {}, title), element("thead", {}, head), body);
  }

  row(grid, i, positions) {
    const role = grid === "weight" ? { role: "gridcell" } : {};
    const cells = positions.map((j) =>
      element("td", { ...role, "data-grid": grid, "data-i": i, "data-j": j }),
    );
    this.cells[grid].push(cells);
    const row = element("tr", {}, this.header(i, "row"), ...cells);
    if (grid === "weight") {
      this.sums[i] = element("td", { ...role, class: "cw-sum", "data-sum": i });
      row.append(this.sums[i]);
    }
    return row;
  }

  header(position, scope) {
    const th = element("th", { scope });
    this.headers.push([th, position]);
    return th;
  }

  draw() {
    this.shown = compute(this.model);
    const { kind, dK, temperature, tokens, rows } = this.shown;
    const formula = kind.after ? "softmax(S / (√dₖ · T)) ⊙ máscara" : "softmax((S + M) / (√dₖ · T))";
    this.formula.textContent = `A = ${formula}, com dₖ = ${dK} e T = ${trimmed(temperature)}`;
    for (const [th, position] of this.headers) th.textContent = th.title = tokens[position];
    rows.forEach((row, i) => {
      row.weights.forEach((_, j) => this.drawCell(i, j));
      this.sums[i].textContent = row.empty ? NOTHING : number(row.sum);
    });
    this.verdict.textContent = kind.mistake ? `Erro: ${kind.mistake}. ${kind.text}` : kind.text;
    this.verdict.classList.toggle("cw-mistake", Boolean(kind.mistake));
    this.facts.textContent = factsOf(this.shown);
    this.select();
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
    const [ci, cj] = this.model.get("cell").map((k) => Math.min(Math.max(k, 0), last));
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

  choose(cell) {
    this.model.set("cell", cell);
    this.model.save_changes();
  }

  focus([i, j]) {
    this.cells.weight[i][j].focus();
  }

  /** The slider of real tokens is enabled, through a link, only while it has something to say. */
  sayWhetherPaddingIsUsed() {
    this.model.set("padding_unused", !this.shown.kind.padded);
    this.model.save_changes();
  }

  listen({ signal, onChange }) {
    const on = (type, listener) => this.grids.addEventListener(type, listener, { signal });
    const ifCell = (listener) => (event) => {
      const cell = event.target.closest("td[data-i]");
      if (cell) listener([Number(cell.dataset.i), Number(cell.dataset.j)], event);
    };
    on(
      "pointerover",
      ifCell((at) => this.explain(...at)),
    );
    on("pointerleave", () => this.select());
    on(
      "click",
      ifCell((at) => this.focus(at)),
    );
    on(
      "focusin",
      ifCell((at) => this.choose(at)),
    );
    on(
      "keydown",
      ifCell((at, event) => {
        const to = moveInGrid(event, at, this.sums.length, this.sums.length);
        if (!to) return;
        event.preventDefault();
        this.focus(to);
      }),
    );
    onChange(["tokens", "scores"], () => this.build());
    onChange(["d_k_index", "temperature_index", "real_tokens"], () => this.draw());
    onChange(["kind_index"], () => {
      this.draw();
      this.sayWhetherPaddingIsUsed();
    });
    onChange(["cell"], () => this.select());
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

function render({ model, el }) {
  const life = lifecycle(model);
  const view = new MaskView(model);
  view.listen(life);
  el.append(view.root);
  nameSliders(el, life.signal);
  return life.end;
}

export default { render };
