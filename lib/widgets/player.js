// @ts-check
// A player: one step forward or back, any step at once, or all of them one after the other. It moves only when asked.
import { clamp, element } from "./base.js";

const KEYS = { ArrowLeft: -1, ArrowRight: 1 };

export class Player {
  /**
   * @param {any} view the view whose trait `step` counts from `first`
   * @param {{ first: number, last: () => number, at: () => number, beat: () => number }} steps the last step, the one
   *   that is shown, and how many milliseconds each stays
   */
  constructor(view, { first, last, at, beat }) {
    this.view = view;
    this.first = first;
    this.last = last;
    this.at = at;
    this.beat = beat;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.back = element("button", { type: "button" }, "Passo anterior");
    this.play = element("button", { type: "button", class: "cw-play" });
    this.forward = element("button", { type: "button" }, "Próximo passo");
    this.range = element("input", { type: "range", min: first, "aria-label": "Passo" });
    const buttons = element("div", { class: "cw-field" }, this.back, this.play, this.forward);
    this.root = element(
      "div",
      { class: "cw-player", role: "group", "aria-label": "Passos" },
      buttons,
      this.range,
    );
    view.signal.addEventListener("abort", () => this.stop());
    this.name();
  }

  /** Show a step because the reader asked for it: what was playing stops. */
  show(step) {
    this.stop();
    this.view.set({ step: clamp(step - this.first, this.last() - this.first) + this.first });
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.at() >= this.last()) this.view.set({ step: this.first });
    this.wait();
  }

  /** The next step after a beat, and so on to the last one. */
  wait() {
    this.timer = setTimeout(() => {
      this.view.set({ step: this.at() + 1 });
      if (this.at() < this.last()) this.wait();
      else this.stop();
    }, this.beat());
    this.name();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.name();
  }

  name() {
    this.play.textContent = this.timer ? "❚❚ Pausar" : "▶ Tocar";
  }

  draw() {
    const [step, last] = [this.at(), this.last()];
    this.range.max = String(last);
    this.range.value = String(step);
    this.range.setAttribute("aria-valuetext", `passo ${step} de ${last}`);
    // Not `disabled`, which would take the focus from who presses one until its end.
    this.back.setAttribute("aria-disabled", String(step <= this.first));
    this.forward.setAttribute("aria-disabled", String(step >= last));
    if (step >= last && this.timer) this.stop();
  }

  listen() {
    const { view } = this;
    view.on(this.range, "input", () => this.show(this.range.valueAsNumber));
    view.on(this.back, "click", () => this.show(this.at() - 1));
    view.on(this.forward, "click", () => this.show(this.at() + 1));
    view.on(this.play, "click", () => this.toggle());
    view.on(this.root, "keydown", (event) => {
      const way = KEYS[event.key];
      if (!way || event.target === this.range) return;
      event.preventDefault();
      this.show(this.at() + way);
    });
  }
}
