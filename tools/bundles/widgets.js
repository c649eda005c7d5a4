// @ts-check
// Draws the widgets that a page carries, from their saved state (`courseWidgets`) and with no kernel.
import * as base from "@jupyter-widgets/base";
import { ManagerBase } from "@jupyter-widgets/base-manager";
import * as controls from "@jupyter-widgets/controls";
import { MessageLoop } from "@lumino/messaging";
import { Widget } from "@lumino/widgets";
import anywidget from "anywidget";
import "./widgets.css";

const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';
const MODULES = {
  "@jupyter-widgets/base": base,
  "@jupyter-widgets/controls": controls,
  anywidget: anywidget(base),
};
const script = /** @type {HTMLScriptElement} */ (document.currentScript);
const STYLE = new URL("widgets.css", script.src).href;

class PageManager extends ManagerBase {
  async loadClass(name, module) {
    const found = MODULES[module]?.[name];
    if (!found) throw new Error(`the page has no class ${name} of ${module}`);
    return found;
  }

  // No kernel answers: there are no channels to know of, and one that is opened stays silent.
  async _get_comm_info() {
    return {};
  }

  /** @returns {Promise<any>} of all that a channel can do, what is asked of a silent one */
  async _create_comm() {
    return { on_close() {}, on_msg() {}, close() {} };
  }
}

function addStyle() {
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: STYLE });
  const loaded = new Promise((resolve, reject) => Object.assign(link, { onload: resolve, onerror: reject }));
  document.head.append(link);
  return loaded;
}

async function draw() {
  await addStyle();
  const manager = new PageManager();
  const models = await manager.set_state(globalThis.courseWidgets);
  for (const place of document.querySelectorAll(VIEW)) {
    const { model_id: id } = JSON.parse(place.textContent);
    drawView(
      manager,
      models.find((model) => model.model_id === id),
      place,
    );
  }
}

async function drawView(manager, model, place) {
  const before = place.previousElementSibling;
  const still = before?.matches(".cw-still") ? before : null;
  const host = Object.assign(document.createElement("div"), { className: "widget-subarea" });
  host.hidden = Boolean(still);
  place.before(host);
  const { luminoWidget } = await manager.create_view(model);
  Widget.attach(luminoWidget, host);
  if (still) await takePlace(host, still);
  window.addEventListener("resize", () => {
    MessageLoop.postMessage(luminoWidget, Widget.ResizeMessage.UnknownSize);
  });
}

/** Resolves when a view has drawn itself. */
const drawn = (host) =>
  new Promise((resolve) => {
    const look = () => {
      if (!host.querySelector(".cw")) return;
      watch.disconnect();
      resolve();
    };
    const watch = new MutationObserver(look);
    watch.observe(host, { childList: true, subtree: true });
    look();
  });

/** Put a live widget where its first state stood, and do there what the reader did here meanwhile (course.js). */
async function takePlace(host, still) {
  await drawn(host);
  const usable = "button:not([hidden]), summary, input, select";
  const [before, after] = [still, host].map((root) => root.querySelectorAll(usable));
  const focused = [...before].indexOf(document.activeElement);
  still.replaceWith(host);
  host.hidden = false;
  after[focused]?.focus();
  before.forEach(({ dataset, value }, k) => {
    if (dataset.touched === "click") after[k].click();
    if (dataset.touched !== "input") return;
    after[k].value = value;
    for (const type of ["input", "change"]) after[k].dispatchEvent(new Event(type));
  });
}

// Not before the page is complete: who reads comes first.
if (document.readyState === "complete") draw();
else window.addEventListener("load", draw);
