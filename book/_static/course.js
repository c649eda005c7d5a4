// @ts-check
// What the theme leaves out: code that is fetched when it is wanted, keyboard access to boxes that scroll
// sideways, and focus that stays where it was.
(() => {
  // What only some reader needs: the addresses stand on the tag of this script (book/_ext/course_assets.py).
  const later = document.currentScript.dataset;
  const NEAR = "100% 0px"; // a screen away
  const ON_SCREEN = "0px 0px -15% 0px"; // enough of it to be seen, before anybody is on the way to the rest

  const AT_ONCE = 8; // boxes that are measured in one go

  /** Add scripts that run in their order. @param {string} addresses */
  const fetchScripts = (addresses) =>
    Promise.all(
      addresses.split(" ").map(
        (src) =>
          new Promise((onload, onerror) => {
            const script = document.createElement("script");
            document.head.append(Object.assign(script, { src, async: false, onload, onerror }));
          }),
      ),
    );

  /** Fetch scripts when a place comes near the screen, or all are to be printed; or when told to. */
  function fetchNear(places, addresses) {
    const wanted = new AbortController();
    const fetchOnce = () => {
      if (!wanted.signal.aborted) fetchScripts(addresses);
      wanted.abort();
    };
    const near = (entries) => entries.some(({ isIntersecting }) => isIntersecting) && fetchOnce();
    const watch = (rootMargin) => {
      const observer = new IntersectionObserver(near, { rootMargin });
      wanted.signal.addEventListener("abort", () => observer.disconnect());
      for (const place of places) observer.observe(place);
    };
    watch(ON_SCREEN);
    window.addEventListener("scroll", () => watch(NEAR), { once: true, signal: wanted.signal });
    window.addEventListener("beforeprint", fetchOnce, { signal: wanted.signal });
    return fetchOnce;
  }

  // A widget whose first state stands in the page needs its code when it is touched, or was used before.
  const TOUCHES = ["pointerover", "pointerdown", "focusin"];
  const wasUsed = () => {
    try {
      return Object.keys(sessionStorage).some((key) => key.includes(` ${window.location.pathname} `));
    } catch {
      return false; // a page that may keep nothing
    }
  };

  function fetchWidgets(addresses) {
    const views = document.querySelectorAll('script[type="application/vnd.jupyter.widget-view+json"]');
    const places = new Set([...views].map((view) => view.parentElement));
    const stills = document.querySelectorAll(".cw-still");
    if (!wasUsed()) for (const still of stills) places.delete(still.parentElement);
    const fetchOnce = fetchNear(places, addresses);
    for (const still of stills) {
      for (const touch of TOUCHES) still.addEventListener(touch, fetchOnce);
      // What is asked of it before the code is there is done then (widgets.js).
      for (const [type, kinds] of [
        ["click", "button, summary"],
        ["input", "input, select"],
      ]) {
        still.addEventListener(type, ({ target }) => {
          /** @type {Element} */ (target).closest(kinds)?.setAttribute("data-touched", type);
        });
      }
    }
  }

  if (later.widgets) fetchWidgets(later.widgets);
  if (later.diagrams) fetchNear(document.querySelectorAll("pre.mermaid"), later.diagrams);

  let menus;
  const fetchMenus = () => (menus ??= fetchScripts(later.menus));
  for (const menu of /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll("[data-bs-toggle=dropdown]")
  )) {
    menu.addEventListener("focus", fetchMenus);
    menu.addEventListener("click", () => globalThis.bootstrap ?? fetchMenus().then(() => menu.click()));
  }

  /** A moment for what else the page has to do. */
  const pause = () => new Promise((resolve) => setTimeout(resolve));

  async function focusScrollers() {
    const boxes = ".bd-article pre, .bd-article .output, .pst-scrollable-table-container, .formula";
    for (const [k, box] of document.querySelectorAll(boxes).entries()) {
      // To ask for its width lays it out, wherever it is.
      if (k % AT_ONCE === 0) await pause();
      if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
    }
  }

  // Says whether the page has settled: "soon" from a change until what it needs has been mended.
  const root = document.documentElement.dataset;

  async function mend(change) {
    await focusScrollers();
    if (change === changes) root.mended = "now";
  }

  // The theme blurs its own buttons on every click; who uses the keyboard would be sent back to the top.
  document.addEventListener("click", (event) => {
    const byKeyboard = event.detail === 0;
    const at = /** @type {Element} */ (event.target);
    if (byKeyboard && document.activeElement === document.body) at.closest?.("button")?.focus();
  });

  let changes = 0;
  let pending;
  const mendSoon = () => {
    root.mended = "soon";
    clearTimeout(pending);
    pending = setTimeout(mend, 100, ++changes);
  };
  mendSoon();
  new MutationObserver(mendSoon).observe(document.body, { childList: true, subtree: true });
  window.addEventListener("resize", mendSoon);
})();
