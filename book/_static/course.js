// Accessibility that ipywidgets and the theme leave out: names for sliders, and keyboard access to boxes that
// scroll sideways.
(() => {
  const nameSliders = () => {
    for (const slider of document.querySelectorAll(".widget-hslider, .widget-vslider")) {
      const name = slider.querySelector(".widget-label")?.textContent.trim();
      for (const handle of slider.querySelectorAll(".noUi-handle:not([aria-label])")) {
        if (name) handle.setAttribute("aria-label", name);
      }
    }
  };

  const focusScrollers = () => {
    for (const box of document.querySelectorAll(".bd-article pre, .pst-scrollable-table-container, .math.notranslate")) {
      if (box.scrollWidth > box.clientWidth && !box.hasAttribute("tabindex")) box.setAttribute("tabindex", "0");
    }
  };

  const mend = () => {
    nameSliders();
    focusScrollers();
  };

  mend();
  let pending;
  new MutationObserver(() => {
    clearTimeout(pending);
    pending = setTimeout(mend, 100);
  }).observe(document.body, { childList: true, subtree: true });
})();
