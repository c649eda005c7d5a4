// @ts-check
// What the course's widgets share: numbers in Portuguese, a safe softmax, elements whose text is never markup,
// keys of a grid, views whose listeners end with them, and what a visit remembers. `base.py` puts this file in front
// of each widget's own.

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/**
 * 0.5 → "0,500"; -Infinity → "−∞"; with `tiny`, 3e-7 → "3,0·10⁻⁷" where fixed digits would show only zeros.
 * @param {number} x
 * @param {number} digits
 */
export function formatNumber(x, digits, { tiny = false } = {}) {
  if (!Number.isFinite(x)) return x > 0 ? "∞" : x < 0 ? "−∞" : "?";
  const size = Math.abs(x);
  const scientific = size >= 1e6 || (tiny && size > 0 && size < 0.5 * 10 ** -digits);
  let text = scientific ? size.toExponential(1) : size.toFixed(digits);
  const negative = x < 0 && /[1-9]/.test(text);
  if (scientific) {
    const [mantissa, exponent] = text.replace("+", "").replace("e-", "e⁻").split("e");
    text = `${mantissa}·10${exponent.replaceAll(/\d/g, (c) => SUPERSCRIPTS[c])}`;
  }
  return (negative ? "−" : "") + text.replace(".", ",");
}

/**
 * exp(z − max) / sum for one row; the maximum keeps exp from overflowing. All −∞: zeros, as in `lib`.
 * @param {number[]} row
 */
export function softmax(row) {
  const max = Math.max(...row);
  const exps = row.map((z) => (z === -Infinity ? 0 : Math.exp(z - max)));
  const sum = exps.reduce((a, b) => a + b, 0);
  return { max, exps, sum, weights: exps.map((e) => (sum === 0 ? 0 : e / sum)) };
}

/**
 * An element with attributes and children; strings become text, never markup.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} attributes
 * @param {...(Node | string)} children
 */
export function element(tag, attributes = {}, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, value);
  el.append(...children);
  return el;
}

/** A box to write in, for a `field`. @param {string} name */
export const textBox = (name) =>
  element("input", { type: "text", "aria-label": name, spellcheck: "false", autocomplete: "off" });

/** A control with its label before it, which a screen reader knows from the control. */
export const field = (label, control) =>
  element("div", { class: "cw-field" }, element("span", { "aria-hidden": "true" }, label), control);

/** A table of numbers; a column without a name has an empty cell for its head. */
export function numbersTable(caption, columns, body) {
  const head = columns.map((name) => (name ? element("th", { scope: "col" }, name) : element("td")));
  const rows = columns.length ? [element("thead", {}, element("tr", {}, ...head)), body] : [body];
  return element("table", { class: "cw-numbers" }, element("caption", {}, caption), ...rows);
}

/** Figures with their titles: the list, and by name the element of each, which `draw` fills. */
export function figures(titles) {
  const cells = Object.fromEntries(
    Object.keys(titles).map((name) => [name, element("dd", { "data-fact": name })]),
  );
  const items = Object.entries(titles).map(([name, title]) =>
    element("div", {}, element("dt", {}, title), cells[name]),
  );
  return { cells, list: element("dl", { class: "cw-figures" }, ...items) };
}

/** The number from 0 to `most` that is nearest to `k`. */
export const clamp = (k, most) => Math.min(Math.max(k, 0), most);

/**
 * The cell that `key` leads to from (i, j) in a grid, or null if the key is not one of the grid's.
 * @param {{ key: string, ctrlKey: boolean }} event
 * @param {number[]} at
 * @param {number} rows
 * @param {number} columns
 * @returns {[number, number] | null}
 */
export function moveInGrid({ key, ctrlKey }, [i, j], rows, columns) {
  const last = columns - 1;
  const to = {
    ArrowUp: [i - 1, j],
    ArrowDown: [i + 1, j],
    ArrowLeft: [i, j - 1],
    ArrowRight: [i, j + 1],
    Home: [ctrlKey ? 0 : i, 0],
    End: [ctrlKey ? rows - 1 : i, last],
    PageUp: [0, j],
    PageDown: [rows - 1, j],
  }[key];
  if (!to) return null;
  return [clamp(to[0], rows - 1), clamp(to[1], last)];
}

/** A view of the model, all of it under `root`; its listeners, on elements and on the model, end with it. */
export class View {
  constructor(model, attributes) {
    this.model = model;
    this.life = new AbortController();
    this.signal = this.life.signal;
    this.root = element("div", attributes);
  }

  /** Put an element at the end of the view. @template {Node} N @param {N} node */
  add(node) {
    this.root.append(node);
    return node;
  }

  set(values) {
    for (const [name, value] of Object.entries(values)) this.model.set(name, value);
    this.model.save_changes();
  }

  on(target, type, listener) {
    target.addEventListener(type, listener, { signal: this.signal });
  }

  onChange(names, callback) {
    for (const name of names) this.model.on(`change:${name}`, callback);
    this.signal.addEventListener("abort", () => {
      for (const name of names) this.model.off(`change:${name}`, callback);
    });
  }
}

// --- what a visit remembers ---------------------------------------------------------------------------------

/** What a page keeps while it is visited; one that may not keep anything (a private window, a file) just forgets. */
const visit = {
  read(key) {
    try {
      return JSON.parse(sessionStorage.getItem(key));
    } catch {
      return null;
    }
  },
  write(key, value) {
    try {
      sessionStorage.setItem(key, JSON.stringify(value));
    } catch {
      // Nothing to do: a widget works without a memory.
    }
  },
};

const LONGEST_TEXT = 10_000;
/** What may be taken up again, since a visit's memory can hold anything: each says if a value fits a model. */
export const isText = (x) => typeof x === "string" && x.length <= LONGEST_TEXT;
export const isWhole = (x) => Number.isInteger(x) && x >= 0;
export const isCell = (x) => Array.isArray(x) && x.length === 2 && x.every(isWhole);
/** A whole number from `least` to what the model says. */
export const isBetween = (least, most) => (x, model) => isWhole(x) && x >= least && x <= most(model);
/** A place in one of the model's lists. */
export const isPlaceIn = (name) => isBetween(0, (model) => model.get(name).length - 1);

/**
 * Where the reader left the controls that `Kind.kept` names, each with what fits it: taken up when a page is opened
 * again, kept from then on. Only in a page without a kernel: elsewhere Python knows better.
 */
function takeUp(Kind, model) {
  const kept = Object.entries(Kind.kept ?? {});
  if (!globalThis.courseWidgets || !kept.length) return () => {};
  const values = () => Object.fromEntries(kept.map(([name]) => [name, model.get(name)]));
  const key = Kind.memory?.(model) ?? `${Kind.name} ${window.location.pathname} ${JSON.stringify(values())}`;
  const stored = visit.read(key);
  for (const [name, fits] of kept) {
    const value = stored?.[name];
    if (value !== undefined && fits(value, model)) model.set(name, value);
  }
  model.save_changes();
  const names = kept.map(([name]) => name);
  return (view) => view.onChange(names, () => visit.write(key, values()));
}

/** What anywidget calls to draw a view of this kind, and gets the way to end it from. */
export const rendererOf =
  (Kind) =>
  ({ model, el }) => {
    const remember = takeUp(Kind, model);
    const view = new Kind(model);
    view.listen();
    remember(view);
    el.append(view.root);
    nameControls(el, view.signal);
    return () => view.life.abort();
  };

/**
 * ipywidgets' sliders have no accessible name, announce the index of an option instead of its label, and put a
 * nameless text box in the tab order. In the panel around `el`, each handle gets the name of its label and says
 * what the readout shows, and the readout only shows. The panel itself is a group with the name of its title.
 * @param {HTMLElement} el
 * @param {AbortSignal} signal
 */
export function nameControls(el, signal) {
  const set = (target, attribute, value) => {
    if (target && value && target.getAttribute(attribute) !== value) target.setAttribute(attribute, value);
  };
  const name = (controls) => {
    for (const slider of controls.querySelectorAll(".widget-slider")) {
      const handle = slider.querySelector("[role=slider]");
      const readout = slider.querySelector(".widget-readout");
      set(handle, "aria-label", slider.querySelector(".widget-label")?.textContent);
      set(handle, "aria-valuetext", readout?.textContent);
      set(readout, "contenteditable", "false");
    }
  };
  const undone = ["aria-valuetext", "contenteditable"]; // what ipywidgets sets again on each change
  let renaming;
  // The view is drawn before it is put in the page: its first size is the sign that the panel is around it.
  const attached = new ResizeObserver(() => {
    const panel = el.closest(".cw-panel");
    const controls = panel?.querySelector(".cw-controls");
    if (!controls) return;
    attached.disconnect();
    set(panel, "role", "group");
    set(panel, "aria-label", panel.querySelector(".cw-title")?.textContent);
    renaming = new MutationObserver(() => name(controls));
    renaming.observe(controls, { subtree: true, childList: true, attributeFilter: undone });
    name(controls);
  });
  attached.observe(el);
  signal.addEventListener("abort", () => {
    attached.disconnect();
    renaming?.disconnect();
  });
}
