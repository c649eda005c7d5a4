// @ts-check
// Fetches the fonts of the pages: when the first words have been shown, in a font that the reader has, or at once
// where they were fetched before.
(() => {
  const KEY = "fonts";
  const { href } = document.currentScript.dataset;
  let link;

  function fetchFonts() {
    link ??= document.head.appendChild(
      Object.assign(document.createElement("link"), { rel: "stylesheet", href }),
    );
    link.addEventListener("load", () => localStorage.setItem(KEY, href));
  }

  if (localStorage.getItem(KEY) === href) fetchFonts();
  else new PerformanceObserver(fetchFonts).observe({ type: "paint", buffered: true });
})();
