// @ts-check
// Square tables of attention weights that the reader walks with the arrows.
import { element, formatNumber, moveInGrid } from "./base.js";

/** 0.1234 → "12,3": a weight as a percentage, without its sign. */
export const percentage = (x) => formatNumber(100 * x, 1);

/** Hear of events in the cells of a table: `listener` gets the place of the cell, and the event. */
export function onCell(view, root, type, listener) {
  view.on(root, type, (event) => {
    const cell = event.target.closest("td[data-i]");
    if (cell) listener([Number(cell.dataset.i), Number(cell.dataset.j)], event);
  });
}

/** Arrows move from cell to cell of a square table, and `choose` hears which one has the focus. */
export function walkCells(view, root, cells, choose) {
  const focus = ([i, j]) => cells()[i][j].focus();
  onCell(view, root, "click", focus);
  onCell(view, root, "focusin", choose);
  onCell(view, root, "keydown", (at, event) => {
    const to = moveInGrid(event, at, cells().length, cells().length);
    if (!to) return;
    event.preventDefault();
    focus(to);
  });
}

/** A table of n by n cells; `headers` are those of its columns, then those of its rows. */
export function squareTable(n, caption, attributes, cell) {
  const places = [...Array(n).keys()];
  const [columns, names] = ["col", "row"].map((scope) => places.map(() => element("th", { scope })));
  const cells = places.map((i) => places.map((j) => element("td", { ...cell, "data-i": i, "data-j": j })));
  const rows = [
    element("tr", {}, element("td"), ...columns),
    ...cells.map((row, i) => element("tr", {}, names[i], ...row)),
  ];
  const parts = [element("thead", {}, rows[0]), element("tbody", {}, ...rows.slice(1))];
  const table = element("table", attributes, element("caption", {}, caption), ...parts);
  return { table, headers: [...columns, ...names], rows, cells };
}

/** A square table of attention weights, in percent: arrows move in it, and `choose` hears of the cell chosen. */
export class WeightGrid {
  constructor(view, caption, choose) {
    this.caption = caption;
    this.root = element("div", { class: "cw-weights" });
    walkCells(view, this.root, () => this.cells, choose);
  }

  /** A table for the tokens; one of the same size is kept, with other headers. */
  build(tokens) {
    const n = tokens.length;
    if (this.cells?.length !== n) {
      const grid = { role: "grid", "aria-label": `${this.caption}; as setas do teclado mudam de célula` };
      const { table, headers, cells } = squareTable(n, this.caption, grid, { role: "gridcell" });
      this.headers = headers;
      this.cells = cells;
      this.root.replaceChildren(table);
    }
    this.headers.forEach((th, k) => {
      th.textContent = th.title = tokens[k % n];
    });
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
}
