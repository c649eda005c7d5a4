// @ts-check
// A moving picture: the items of a frame on a stage. Styles move them there; numbers and places come from Python.
import { View, clamp, element, isPlaceIn, rendererOf } from "./base.js";
import { Player } from "./player.js";

class FilmView extends View {
  static kept = { step: isPlaceIn("frames"), pace_index: isPlaceIn("paces") };

  constructor(model) {
    super(model, { class: "cw cw-film", "data-lm-suppress-shortcuts": "true" });
    this.player = new Player(this, {
      first: 0,
      last: () => this.model.get("frames").length - 1,
      at: () => clamp(this.model.get("step"), this.model.get("frames").length - 1),
      beat: () => this.model.get("paces")[this.model.get("pace_index")],
    });
    this.add(this.player.root);
    this.says = this.add(element("p", { class: "cw-says", role: "status" }));
    this.stage = this.add(element("div", { class: "cw-stage", "aria-hidden": "true" }));
    this.build();
  }

  /** One element for each item that any frame names; `draw` puts them in their places. */
  build() {
    const names = new Set(this.model.get("frames").flatMap(({ items }) => Object.keys(items)));
    this.spots = new Map([...names].map((name) => [name, element("span", { "data-item": name })]));
    this.stage.style.setProperty("--cw-rows", this.model.get("rows"));
    this.stage.replaceChildren(...this.spots.values());
    this.draw();
  }

  draw() {
    const frames = this.model.get("frames");
    const step = this.player.at();
    const items = Object.assign({}, ...frames.slice(0, step + 1).map((frame) => frame.items));
    for (const [name, spot] of this.spots) this.place(spot, items[name]);
    this.says.textContent = frames[step].says;
    this.player.draw();
  }

  /** An item that no frame has named yet is not there. */
  place(spot, item) {
    spot.hidden = !item;
    if (!item) return;
    const share = (x) => `${(100 * x) / this.model.get("columns")}%`;
    spot.className = `cw-item cw-${item.look}`;
    spot.textContent = item.text;
    spot.style.left = share(item.x);
    spot.style.width = share(item.width);
    spot.style.setProperty("--cw-y", item.y);
    spot.style.setProperty("--cw-height", item.height);
    spot.style.setProperty("--cw-weight", item.weight);
  }

  listen() {
    this.player.listen();
    this.onChange(["frames"], () => this.build());
    this.onChange(["step"], () => this.draw());
  }
}

export default { render: rendererOf(FilmView) };
