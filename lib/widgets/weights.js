// A square table of attention weights that the reader walks with the arrows.
import { element, formatNumber, moveInGrid } from "./base.js";

/** 0.1234 → "12,3": a weight as a percentage, without its sign. */
export const percentage = (x) => formatNumber(100 * x, 1);

/** A square table of attention weights, in percent: arrows move in it, and `choose` hears of the cell chosen. */
export class WeightGrid {
  constructor(caption, choose) {
    this.caption = caption;
    this.choose = choose;
    this.root = element("div", { class: "cw-weights" });
  }

  build(tokens) {
    const header = (scope) => (token) => element("th", { scope, title: token }, token);
    this.cells = tokens.map((_, i) =>
      tokens.map((__, j) => element("td", { role: "gridcell", "data-i": i, "data-j": j })),
    );
    const head = element("tr", {}, element("td"), ...tokens.map(header("col")));
    const rows = tokens.map((token, i) => element("tr", {}, header("row")(token), ...this.cells[i]));
    const label = `${this.caption}; as setas do teclado mudam de célula`;
    this.root.replaceChildren(
      element(
        "table", { role: "grid", "aria-label": label },
        element("caption", {}, this.caption), element("thead", {}, head), element("tbody", {}, ...rows),
      ),
    );
  }

  /** `weights[i][j]` is what query i gives to key j; `hides(i, j)` says what the mask hides. */
  draw(weights, [ci, cj], hides = () => false) {
    this.cells.forEach((row, i) =>
      row.forEach((cell, j) => {
        const chosen = i === ci && j === cj;
        cell.textContent = percentage(weights[i][j]);
        cell.style.setProperty("--cw-weight", weights[i][j]);
        cell.classList.toggle("cw-hidden", hides(i, j));
        cell.setAttribute("aria-label", cell.textContent + (hides(i, j) ? ", escondido pela máscara" : ""));
        cell.classList.toggle("cw-selected", chosen);
        cell.tabIndex = chosen ? 0 : -1;
      }),
    );
  }

  listen(signal) {
    const on = (type, listener) =>
      this.root.addEventListener(type, (event) => {
        const cell = event.target.closest("td[data-i]");
        if (cell) listener([Number(cell.dataset.i), Number(cell.dataset.j)], event);
      }, { signal });
    on("click", ([i, j]) => this.cells[i][j].focus());
    on("focusin", (at) => this.choose(at));
    on("keydown", (at, event) => {
      const to = moveInGrid(event, at, this.cells.length, this.cells.length);
      if (!to) return;
      event.preventDefault();
      this.cells[to[0]][to[1]].focus();
    });
  }
}
