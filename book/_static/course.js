// @ts-check
// Accessibility that the theme leaves out: keyboard access to boxes that scroll sideways, and focus that stays
// where it was.
(() => {
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
