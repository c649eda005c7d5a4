// Accessibility that the theme, docutils and ipywidgets leave out: names for sliders, valid roles, and keyboard
// access to boxes that scroll sideways.
(() => {
  const nameSliders = () => {
    for (const slider of document.querySelectorAll(".widget-hslider, .widget-vslider")) {
      const name = slider.querySelector(".widget-label")?.textContent.trim();
      for (const handle of slider.querySelectorAll(".noUi-handle:not([aria-label])")) {
        if (name) handle.setAttribute("aria-label", name);
      }
    }
  };

  const dropInvalidRoles = () => {
    for (const list of document.querySelectorAll('.citation-list[role="list"]')) list.removeAttribute("role");
    for (const entry of document.querySelectorAll('.citation[role="doc-biblioentry"]')) entry.removeAttribute("role");
  };

  const focusScrollers = () => {
    for (const box of document.querySelectorAll(".bd-article pre, .pst-scrollable-table-container, .math.notranslate")) {
      if (box.scrollWidth > box.clientWidth && !box.hasAttribute("tabindex")) box.setAttribute("tabindex", "0");
    }
  };

  const mend = () => {
    nameSliders();
    dropInvalidRoles();
    focusScrollers();
  };

  mend();
  let pending;
  new MutationObserver(() => {
    clearTimeout(pending);
    pending = setTimeout(mend, 100);
  }).observe(document.body, { childList: true, subtree: true });
})();
