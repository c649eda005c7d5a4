// @ts-check
// What the theme leaves out: code that is fetched when it is wanted, keyboard access to boxes that scroll
// sideways, and focus that stays where it was.
(() => {
  // What only some reader needs: the addresses stand on the tag of this script (book/_ext/course_assets.py).
  const later = document.currentScript.dataset;
  const NEAR = "100% 0px"; // a screen away

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

  /** Fetch scripts when a place comes near the screen, or all are to be printed. */
  function fetchNear(places, addresses) {
    const wanted = new AbortController();
    const fetchOnce = () => {
      if (!wanted.signal.aborted) fetchScripts(addresses);
      wanted.abort();
    };
    const near = (entries) => entries.some(({ isIntersecting }) => isIntersecting) && fetchOnce();
    const observer = new IntersectionObserver(near, { rootMargin: NEAR });
    wanted.signal.addEventListener("abort", () => observer.disconnect());
    window.addEventListener("beforeprint", fetchOnce, { signal: wanted.signal });
    for (const place of places) observer.observe(place);
  }

  const widgets = document.querySelectorAll('script[type="application/vnd.jupyter.widget-view+json"]');
  if (later.widgets) fetchNear(new Set([...widgets].map((view) => view.parentElement)), later.widgets);
  if (later.diagrams) fetchNear(document.querySelectorAll("pre.mermaid"), later.diagrams);

  let menus;
  const fetchMenus = () => (menus ??= fetchScripts(later.menus));
  for (const menu of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-bs-toggle=dropdown]"))) {
    menu.addEventListener("focus", fetchMenus);
    menu.addEventListener("click", () => globalThis.bootstrap ?? fetchMenus().then(() => menu.click()));
  }

  const focusScrollers = () => {
    const boxes = ".bd-article pre, .bd-article .output, .pst-scrollable-table-container, .formula";
    for (const box of document.querySelectorAll(boxes)) {
      if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
    }
  };

  // Says whether the page has settled: "soon" from a change until what it needs has been mended.
  const root = document.documentElement.dataset;

  const mend = () => {
    focusScrollers();
    root.mended = "now";
  };

  // The theme blurs its own buttons on every click; who uses the keyboard would be sent back to the top.
  document.addEventListener("click", (event) => {
    const byKeyboard = event.detail === 0;
    const at = /** @type {Element} */ (event.target);
    if (byKeyboard && document.activeElement === document.body) at.closest?.("button")?.focus();
  });

  mend();
  let pending;
  const mendSoon = () => {
    root.mended = "soon";
    clearTimeout(pending);
    pending = setTimeout(mend, 100);
  };
  new MutationObserver(mendSoon).observe(document.body, { childList: true, subtree: true });
  window.addEventListener("resize", mendSoon);
})();
