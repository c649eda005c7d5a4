// The mask explorer: scores of a sentence, a mask, the softmax, and the arithmetic of any cell.
import { element, formatNumber, lifecycle, moveInGrid, nameSliders, softmax } from "./base.js";

const isFuture = (i, j) => j > i;

// For each kind: `hides(i, j, realTokens)` says which scores are hidden before the softmax, and `text` what it is.
// `hiddenScore` is what takes the place of a hidden score; `after` masks the weights instead of the scores.
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
    hides: (i, j, realTokens) => j >= realTokens,
    text: "Só os tokens reais são vistos. As linhas dos [PAD] também são calculadas, mas o modelo as descarta.",
  },
  diagonal: {
    mistake: "diagonal escondida",
    hides: (i, j) => j >= i,
    text: "Nenhum token vê a si mesmo, e o primeiro fica sem nada a atender.",
  },
  invertida: {
    mistake: "booleano invertido",
    hides: (i, j) => !isFuture(i, j),
    text: "“Permitir” foi lido como “esconder”: cada token vê só o futuro, e o último fica sem nada a atender.",
  },
  depois: {
    mistake: "máscara depois da softmax",
    hides: () => false,
    after: isFuture,
    text: "O futuro já tinha entrado no denominador: os pesos que sobram não somam 1.",
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

const CELL_DIGITS = 3;
const STEP_DIGITS = 4;
const number = (x) => formatNumber(x, CELL_DIGITS);
const precise = (x) => (x === 0 ? "0" : formatNumber(x, STEP_DIGITS, { tiny: true }));
const score = (x) => formatNumber(x, 2);

/** Everything that the view shows, computed from the model's state alone. */
function compute(model) {
  const scores = model.get("scores");
  const kind = KINDS[model.get("kinds")[model.get("kind_index")]];
  const dK = model.get("d_k_choices")[model.get("d_k_index")];
  const temperature = model.get("temperatures")[model.get("temperature_index")];
  const realTokens = model.get("real_tokens");
  const tokens = model.get("tokens").map((token, j) => (kind === KINDS.padding && j >= realTokens ? "[PAD]" : token));
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
  return { scores, kind, dK, temperature, scale, tokens, rows };
}

/** Where a wrong mask differs from the causal one: the future seen, or the past and present lost. */
function markOf({ kind, rows }, i, j) {
  if (!kind.mistake) return "";
  if (isFuture(i, j)) return rows[i].weights[j] > 0 ? "leak" : "";
  return rows[i].hidden[j] ? "lost" : "";
}

function render({ model, el }) {
  const life = lifecycle(model);
  const formula = element("p", { class: "cw-formula" });
  const grids = element("div", { class: "cw-grids" });
  const verdict = element("p", { class: "cw-verdict" });
  const facts = element("p", { class: "cw-facts" });
  const steps = element("div", { class: "cw-steps", "aria-live": "polite", "aria-atomic": "true" });
  const legend = element("ul", { class: "cw-legend", "aria-label": "Legenda" });
  const root = element("div", { class: "cw cw-mask" }, formula, grids, verdict, facts, steps, legend);
  legend.append(
    element("li", {}, element("span", { class: "cw-key cw-hidden", "aria-hidden": "true" }), "escondido pela máscara"),
    element("li", {}, element("span", { class: "cw-key", "aria-hidden": "true" }, "▲"), "futuro que vazou"),
    element("li", {}, element("span", { class: "cw-key", "aria-hidden": "true" }, "▽"), "escondido por engano"),
  );

  let view; // what `compute` gave for the state on screen
  let cells; // cells[i][j] = { score, weight }: the two <td> of a pair of tokens
  let sums; // sums[i]: the <td> of a row's sum
  let headers; // every <th>, with the position of its token

  function build() {
    const n = model.get("tokens").length;
    headers = [];
    sums = [];
    cells = Array.from({ length: n }, () => Array.from({ length: n }, () => ({})));
    grids.replaceChildren(table("score", "Escores com a máscara, S + M", n), table("weight", "Pesos de atenção A", n));
  }

  function table(which, title, n) {
    const interactive = which === "weight";
    const head = element("tr", {}, element("td", { class: "cw-corner" }));
    for (let j = 0; j < n; j++) head.append(header(j, "col"));
    if (interactive) head.append(element("th", { scope: "col", class: "cw-sum" }, "soma"));
    const body = element("tbody");
    for (let i = 0; i < n; i++) {
      const row = element("tr", {}, header(i, "row"));
      for (let j = 0; j < n; j++) {
        cells[i][j][which] = element("td", { "data-i": i, "data-j": j, "data-grid": which });
        if (interactive) cells[i][j].weight.setAttribute("role", "gridcell");
        row.append(cells[i][j][which]);
      }
      if (interactive) {
        sums[i] = element("td", { class: "cw-sum", role: "gridcell", "data-sum": i });
        row.append(sums[i]);
      }
      body.append(row);
    }
    const attributes = interactive ? { role: "grid", "aria-label": `${title}: as setas mudam de célula` } : {};
    return element("table", attributes, element("caption", {}, title), element("thead", {}, head), body);
  }

  function header(position, scope) {
    const th = element("th", { scope });
    headers.push([th, position]);
    return th;
  }

  function draw() {
    view = compute(model);
    const { kind, dK, temperature, tokens, rows } = view;
    formula.textContent =
      `A = softmax((S + M) / (√dₖ · T)), com dₖ = ${dK} e T = ${formatNumber(temperature, 2)}`;
    for (const [th, position] of headers) {
      th.textContent = tokens[position];
      th.title = tokens[position];
    }
    rows.forEach((row, i) => {
      row.weights.forEach((_, j) => drawCell(row, i, j));
      sums[i].textContent = row.empty ? "—" : number(row.sum);
    });
    verdict.textContent = kind.mistake ? `Erro: ${kind.mistake}. ${kind.text}` : kind.text;
    verdict.classList.toggle("cw-mistake", Boolean(kind.mistake));
    facts.textContent = factsOf(view);
    if (model.get("padding_unused") !== (kind !== KINDS.padding)) {
      model.set("padding_unused", kind !== KINDS.padding);
      model.save_changes();
    }
    select();
  }

  function drawCell(row, i, j) {
    const { score: scoreCell, weight: weightCell } = cells[i][j];
    scoreCell.textContent = score(row.entering[j]);
    weightCell.textContent = row.empty ? "—" : number(row.weights[j]);
    weightCell.style.setProperty("--cw-weight", row.weights[j]);
    weightCell.dataset.mark = markOf(view, i, j);
    scoreCell.classList.toggle("cw-hidden", row.hidden[j]);
    weightCell.classList.toggle("cw-hidden", row.hidden[j] || Boolean(view.kind.after?.(i, j)));
  }

  function select() {
    const n = cells.length;
    const chosen = model.get("cell");
    const [ci, cj] = chosen.map((k) => Math.min(Math.max(k, 0), n - 1));
    cells.forEach((row, i) =>
      row.forEach(({ score: scoreCell, weight: weightCell }, j) => {
        const here = i === ci && j === cj;
        weightCell.tabIndex = here ? 0 : -1;
        weightCell.classList.toggle("cw-selected", here);
        scoreCell.classList.toggle("cw-selected", here);
      }),
    );
    explain(ci, cj);
  }

  function explain(i, j) {
    const lines = stepsOf(view, i, j).map(([name, text]) =>
      element("div", { "data-step": name }, element("dt", {}, name), element("dd", {}, text)),
    );
    const title = `“${view.tokens[i]}” (linha ${i + 1}) olha para “${view.tokens[j]}” (coluna ${j + 1})`;
    steps.replaceChildren(element("p", { class: "cw-steps-title" }, title), element("dl", {}, ...lines));
  }

  const position = (target) => {
    const cell = target.closest?.("td[data-i]");
    return cell && [Number(cell.dataset.i), Number(cell.dataset.j)];
  };

  function choose(cell) {
    model.set("cell", cell);
    model.save_changes();
  }

  const { signal } = life;
  grids.addEventListener("pointerover", (event) => { const at = position(event.target); if (at) explain(...at); }, { signal });
  grids.addEventListener("pointerleave", () => select(), { signal });
  grids.addEventListener("click", (event) => {
    const at = position(event.target);
    if (!at) return;
    choose(at);
    cells[at[0]][at[1]].weight.focus({ preventScroll: true });
  }, { signal });
  grids.addEventListener("focusin", (event) => { const at = position(event.target); if (at) choose(at); }, { signal });
  grids.addEventListener("keydown", (event) => {
    const from = position(event.target);
    const to = from && moveInGrid(event, from, cells.length, cells.length);
    if (!to) return;
    event.preventDefault();
    cells[to[0]][to[1]].weight.focus();
  }, { signal });

  life.onChange(["tokens", "scores"], () => { build(); draw(); });
  life.onChange(["kinds", "kind_index", "d_k_choices", "d_k_index", "temperatures", "temperature_index", "real_tokens"], draw);
  life.onChange(["cell"], select);
  build();
  draw();
  el.append(root);
  nameSliders(el, signal);
  return life.end;
}

/** The two numbers that tell a right mask from a wrong one. */
function factsOf({ rows, kind }) {
  const future = rows.flatMap((row, i) => row.weights.filter((_, j) => isFuture(i, j)));
  const sums = rows.filter((row) => !row.empty).map((row) => row.sum);
  const empty = rows.flatMap((row, i) => (row.empty ? [i + 1] : []));
  const parts = [
    `Maior peso no futuro: ${number(Math.max(0, ...future))}.`,
    sums.length ? `Soma das linhas: de ${number(Math.min(...sums))} a ${number(Math.max(...sums))}.` : "",
    empty.length ? `Linha ${empty.join(", ")}: nada a atender (—), pois todos os escores são −∞ e a softmax seria 0/0.` : "",
  ];
  return parts.filter(Boolean).join(" ");
}

/** The arithmetic of cell (i, j), one [name, text] per step. */
function stepsOf({ scores, kind, dK, temperature, rows }, i, j) {
  const { hidden, entering, logits, soft, weights, empty } = rows[i];
  const s = scores[i][j];
  const steps = [["escore", masking(s, hidden[j], entering[j], kind)]];
  steps.push(["escala", `${score(entering[j])} / (√${dK} · ${formatNumber(temperature, 2)}) = ${precise(logits[j])}`]);
  if (empty) return [...steps, ["softmax", "a linha inteira é −∞: 0/0 não é definido, e o peso fica em 0 (nada a atender)"]];
  steps.push(["máximo", `o maior da linha é ${precise(soft.max)}`]);
  steps.push(["exponencial", `exp(${precise(logits[j])} − ${inParentheses(soft.max)}) = ${precise(soft.exps[j])}`]);
  steps.push(["soma", `${soft.exps.map(precise).join(" + ")} = ${precise(soft.sum)}`]);
  steps.push([kind.after ? "softmax" : "peso", `${precise(soft.exps[j])} / ${precise(soft.sum)} = ${precise(soft.weights[j])}`]);
  if (kind.after) steps.push(["peso", `${precise(soft.weights[j])} · ${kind.after(i, j) ? 0 : 1} = ${precise(weights[j])}`]);
  return steps;
}

function masking(s, isHidden, entering, kind) {
  if (kind.hiddenScore !== undefined && isHidden) return `${score(s)} trocado por ${score(entering)}`;
  return `${score(s)} + ${isHidden ? "(−∞)" : "0"} = ${score(entering)}`;
}

const inParentheses = (x) => (x < 0 ? `(${precise(x)})` : precise(x));

export default { render };
