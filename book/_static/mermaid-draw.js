// Draws every diagram with the colours of the page, and again when the reader changes them.
(() => {
  const diagrams = [...document.querySelectorAll("pre.mermaid")].map((element) => ({
    element,
    source: element.textContent.trim(),
  }));
  let drawn = 0;

  async function draw() {
    const dark = document.documentElement.dataset.theme === "dark";
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      theme: dark ? "dark" : "neutral",
      fontFamily: "system-ui, sans-serif",
    });
    for (const { element, source } of diagrams) {
      const { svg } = await mermaid.render(`diagram-${drawn++}`, source);
      element.innerHTML = svg;
    }
  }

  draw();
  new MutationObserver(draw).observe(document.documentElement, {
    attributes: true,
    attributeFilter: ["data-theme"],
  });
})();
