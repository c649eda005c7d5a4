// @ts-check
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
      themeVariables: dark
        ? { mainBkg: "#1b222b", nodeBorder: "#8fc1f5", lineColor: "#aab8c6", textColor: "#d7dee6" }
        : {},
      fontFamily: "system-ui, sans-serif",
    });
    for (const { element, source } of diagrams) {
      const { svg } = await mermaid.render(`diagram-${drawn++}`, source);
      // eslint-disable-next-line no-restricted-syntax -- a drawing of mermaid's, which its strict level has cleaned
      element.innerHTML = svg;
    }
  }

  // Says whether the diagrams have settled: how many drawings are still to come.
  const root = document.documentElement.dataset;
  let coming = 0;

  // One at a time: mermaid keeps its theme in one global place.
  let queue = Promise.resolve();
  const drawNext = () => {
    root.drawings = String(++coming);
    queue = queue.then(draw).finally(() => (root.drawings = String(--coming)));
  };
  drawNext();
  new MutationObserver(drawNext).observe(document.documentElement, {
    attributes: true,
    attributeFilter: ["data-theme"],
  });
})();
