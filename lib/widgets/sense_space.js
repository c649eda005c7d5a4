// @ts-check
// The space of senses: cosines, neighbours and a projection of the vectors of one word, raw or z-scored.
import {
  View,
  clamp,
  element,
  formatNumber,
  isBetween,
  isPlaceIn,
  isWhole,
  numbersTable,
  rendererOf,
} from "./base.js";
import { bytesOf, dot, half } from "./arrays.js";

const MARKS = ["●", "▲"];
// The eight sides of a point on which its number may stand, and how far away: in the plane of a phone, and in text.
const SIDES = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [Math.cos((k * Math.PI) / 4), Math.sin((k * Math.PI) / 4)]);
const STEP_PERCENT = 5;
const STEP_REM = 0.95;
const SWEEPS = 12; // each one squares what is left off the diagonal: five or six would do
const number = (x) => formatNumber(x, 3);

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

/** Eigenvalues and eigenvectors of a small symmetric matrix: Jacobi's rotations, until nothing is left to rotate. */
function eigen(matrix) {
  const a = matrix.map((row) => [...row]);
  const n = a.length;
  const v = a.map((_, i) => a.map((__, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        if (a[p][q] === 0) continue;
        const angle = 0.5 * Math.atan2(2 * a[p][q], a[p][p] - a[q][q]);
        const [c, s] = [Math.cos(angle), Math.sin(angle)];
        for (const row of [...a, ...v]) [row[p], row[q]] = [c * row[p] + s * row[q], c * row[q] - s * row[p]];
        [a[p], a[q]] = [a[p].map((x, k) => c * x + s * a[q][k]), a[q].map((x, k) => c * x - s * a[p][k])];
      }
    }
  }
  return a.map((row, i) => ({ value: row[i], vector: v.map((r) => r[i]) })).sort((x, y) => y.value - x.value);
}

/** The vectors on their first two principal axes; the largest component of an axis is positive, as in `lib`. */
function project(vectors) {
  const centre = vectors[0].map((_, k) => mean(vectors.map((x) => x[k])));
  const centred = vectors.map((x) => x.map((value, k) => value - centre[k]));
  const axes = eigen(centred.map((x) => centred.map((y) => dot(x, y))))
    .slice(0, 2)
    .map(({ value, vector }) => {
      const column = (k) => centred.map((x) => x[k]);
      const axis = centre.map((_, k) => dot(vector, column(k)) / Math.sqrt(value));
      const largest = axis.reduce((best, x) => (Math.abs(x) > Math.abs(best) ? x : best), 0);
      return axis.map((x) => x * Math.sign(largest));
    });
  return centred.map((x) => axes.map((axis) => dot(x, axis)));
}

function cosines(vectors) {
  const norms = vectors.map((x) => Math.sqrt(dot(x, x)));
  return vectors.map((x, i) => vectors.map((y, j) => dot(x, y) / (norms[i] * norms[j])));
}

/** The other occurrences, nearest first. */
const neighbours = (row, i) =>
  [...row.keys()].filter((j) => j !== i).sort((a, b) => row[b] - row[a] || a - b);

/**
 * For each point, the side its number stands on: the one that is farthest from all points and from the numbers
 * already placed, so that none covers another. `places` are in percent of the plane.
 */
function sidesOf(places) {
  const taken = [...places];
  return places.map((place) => {
    const spot = (side) => place.map((x, k) => x + STEP_PERCENT * side[k]);
    const room = (side) =>
      Math.min(...taken.map((other) => Math.hypot(...spot(side).map((x, k) => x - other[k]))));
    const best = SIDES.reduce((a, b) => (room(b) > room(a) + 1e-9 ? b : a));
    taken.push(spot(best));
    return best;
  });
}

class SenseView extends View {
  static kept = {
    word_index: isPlaceIn("words"),
    layer: isBetween(0, (model) => model.get("words")[0].anisotropy.length - 1),
    scale_index: isPlaceIn("scales"),
    chosen: isWhole,
  };

  constructor(model) {
    super(model, { class: "cw cw-sense" });
    this.decoded = new Map();
    this.legend = this.add(element("p", { class: "cw-legend" }));
    this.plot = this.add(element("div", { class: "cw-plane", "aria-hidden": "true" }));
    this.facts = this.add(element("p", { class: "cw-facts" }));
    this.body = element("tbody");
    const caption = "As ocorrências; escolha uma para ver todos os vizinhos";
    const table = numbersTable(caption, ["frase", "sentido", "x", "y", "vizinho"], this.body);
    this.add(element("div", { class: "cw-scroll" }, table));
    this.list = this.add(element("p", { class: "cw-list", role: "status" }));
    this.build();
  }

  get word() {
    return this.model.get("words")[this.model.get("word_index")];
  }

  /** Points and rows for the sentences of the word; `draw` fills them. */
  build() {
    const { sentences, labels, senses } = this.word;
    this.tags = sentences.map((_, i) => element("span", { class: "cw-tag" }, String(i + 1)));
    this.points = sentences.map((_, i) =>
      element("span", { "data-point": i }, MARKS[labels[i]], this.tags[i]),
    );
    this.plot.replaceChildren(...this.points);
    this.picks = sentences.map((text, i) =>
      element("button", { type: "button", "data-pick": i }, `${i + 1}. ${text}`),
    );
    this.cells = sentences.map(() => ["x", "y", "near"].map(() => element("td")));
    const rows = sentences.map((_, i) => {
      const sense = element("td", {}, `${MARKS[labels[i]]} ${senses[labels[i]]}`);
      return element(
        "tr",
        { "data-row": i },
        element("th", { scope: "row" }, this.picks[i]),
        sense,
        ...this.cells[i],
      );
    });
    this.body.replaceChildren(...rows);
    this.legend.textContent = senses.map((sense, k) => `${MARKS[k]} ${sense}`).join("   ");
    this.draw();
  }

  /** The vectors of the layer that is chosen, as they are or with the z-score of each dimension. */
  vectors() {
    const { occurrences, mean: means, deviation, labels, anisotropy } = this.word;
    const packed = this.numbers(occurrences, Uint16Array);
    const d = packed.length / (labels.length * anisotropy.length);
    const layer = this.model.get("layer");
    const row = (i) =>
      Array.from(packed.subarray((layer * labels.length + i) * d, (layer * labels.length + i + 1) * d), half);
    const raw = labels.map((_, i) => row(i));
    if (this.scale !== "z") return raw;
    const [mu, sigma] = [means, deviation].map((text) =>
      this.numbers(text, Float32Array).subarray(layer * d, (layer + 1) * d),
    );
    return raw.map((x) => x.map((value, k) => (value - mu[k]) / sigma[k]));
  }

  /** The numbers behind a base64 text, decoded once. */
  numbers(text, Kind) {
    if (!this.decoded.has(text)) this.decoded.set(text, new Kind(bytesOf(text)));
    return this.decoded.get(text);
  }

  get scale() {
    return this.model.get("scales")[this.model.get("scale_index")];
  }

  draw() {
    const vectors = this.vectors();
    const plane = project(vectors);
    const cosine = cosines(vectors);
    this.drawPlane(plane);
    const { labels } = this.word;
    const nearest = cosine.map((row, i) => neighbours(row, i)[0]);
    this.cells.forEach(([x, y, near], i) => {
      x.textContent = formatNumber(plane[i][0], 2);
      y.textContent = formatNumber(plane[i][1], 2);
      const mark = labels[nearest[i]] === labels[i] ? "✓" : "✗ outro sentido";
      near.textContent = `${nearest[i] + 1} (${number(cosine[i][nearest[i]])}) ${mark}`;
    });
    this.drawFacts(cosine, nearest);
    this.drawChosen(cosine);
  }

  drawPlane(plane) {
    const most = Math.max(...plane.flat().map(Math.abs));
    const at = plane.map(([x, y]) => [50 + (44 * x) / most, 50 - (44 * y) / most]);
    const sides = sidesOf(at);
    this.points.forEach((point, i) => {
      [point.style.left, point.style.top] = at[i].map((share) => `${share}%`);
      this.tags[i].style.translate = sides[i].map((share) => `${share * STEP_REM}rem`).join(" ");
    });
  }

  drawFacts(cosine, nearest) {
    const { labels, anisotropy } = this.word;
    const pairs = (wanted) =>
      cosine.flatMap((row, i) => row.filter((_, j) => i !== j && (labels[i] === labels[j]) === wanted));
    const right = nearest.filter((j, i) => labels[i] === labels[j]).length;
    this.facts.textContent =
      `Cosseno médio: mesmo sentido ${number(mean(pairs(true)))}, sentidos diferentes ${number(mean(pairs(false)))}. ` +
      `Vizinho do mesmo sentido: ${right} de ${labels.length}. ` +
      `Anisotropia (todos os tokens das frases): ${number(anisotropy[this.model.get("layer")][this.scale])}.`;
  }

  drawChosen(cosine) {
    const i = clamp(this.model.get("chosen"), cosine.length - 1);
    this.picks.forEach((pick, k) => pick.setAttribute("aria-pressed", String(k === i)));
    this.points.forEach((point, k) => point.classList.toggle("cw-chosen", k === i));
    const list = neighbours(cosine[i], i).map((j) => `${j + 1} (${number(cosine[i][j])})`);
    this.list.textContent = `Vizinhos de ${i + 1}, do mais próximo ao mais distante: ${list.join(", ")}.`;
  }

  listen() {
    this.on(this.body, "click", ({ target }) => {
      const pick = target.closest("button");
      if (pick) this.set({ chosen: Number(pick.dataset.pick) });
    });
    this.onChange(["words", "word_index"], () => this.build());
    this.onChange(["layer", "scale_index", "chosen"], () => this.draw());
  }
}

export default { render: rendererOf(SenseView) };
