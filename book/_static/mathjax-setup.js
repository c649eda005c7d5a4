// @ts-check
// Runs before MathJax 3. ipywidgets still calls the queue of MathJax 2: this bridges the two.
// The context menu is left out, because it speaks English and can fetch speech rules from elsewhere.
window.MathJax = {
  ...window.MathJax,
  tex: { inlineMath: [["\\(", "\\)"]], processEscapes: true },
  options: { ...window.MathJax?.options, enableMenu: false },
  startup: {
    ready() {
      MathJax.startup.defaultReady();
      let queue = MathJax.startup.promise;
      MathJax.Hub = {
        Queue(command) {
          const element = Array.isArray(command) ? command[2] : null;
          queue = queue
            .then(() => MathJax.typesetPromise(element ? [element] : undefined))
            .catch((problem) => console.error(problem));
        },
      };
    },
  },
};
