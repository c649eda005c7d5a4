// @ts-check
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

  /** A table for the tokens; one of the same size is kept, with other headers. */
  build(tokens) {
    if (this.headers?.length === 2 * tokens.length) {
      this.headers.forEach((th, k) => {
        th.textContent = th.title = tokens[k % tokens.length];
      });
      return;
    }
    const header = (scope) => (token) => element("th", { scope, title: token }, token);
    this.cells = tokens.map((_, i) =>
      tokens.map((__, j) => element("td", { role: "gridcell", "data-i": i, "data-j": j })),
    );
    this.headers = [...tokens.map(header("col")), ...tokens.map(header("row"))];
    const head = element("tr", {}, element("td"), ...this.headers.slice(0, tokens.length));
    const rows = this.cells.map((cells, i) => element("tr", {}, this.headers[tokens.length + i], ...cells));
    const label = `${this.caption}; as setas do teclado mudam de célula`;
    this.root.replaceChildren(
      element(
        "table",
        { role: "grid", "aria-label": label },
        element("caption", {}, this.caption),
        element("thead", {}, head),
        element("tbody", {}, ...rows),
      ),
    );
  }

  /**
   * `weights[i][j]` is what query i gives to key j; `hides(i, j)` says what the mask hides.
   * @param {(i: number, j: number) => boolean} hides
   */
  draw(weights, [ci, cj], hides = () => false) {
    this.cells.forEach((row, i) =>
      row.forEach((cell, j) => {
        this.drawCell(cell, weights[i][j], hides(i, j));
        const chosen = i === ci && j === cj;
        cell.classList.toggle("cw-selected", chosen);
        cell.tabIndex = chosen ? 0 : -1;
      }),
    );
  }

  /** Its label says all that a cell shows: where it says the same, hundreds of styles need not be computed again. */
  drawCell(cell, weight, hidden) {
    const text = percentage(weight);
    const label = text + (hidden ? ", escondido pela máscara" : "");
    if (cell.ariaLabel === label) return;
    cell.ariaLabel = label;
    cell.textContent = text;
    cell.style.setProperty("--cw-weight", weight);
    cell.classList.toggle("cw-hidden", hidden);
  }

  listen(signal) {
    const on = (type, listener) =>
      this.root.addEventListener(
        type,
        (event) => {
          const cell = event.target.closest("td[data-i]");
          if (cell) listener([Number(cell.dataset.i), Number(cell.dataset.j)], event);
        },
        { signal },
      );
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
