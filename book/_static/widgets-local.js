// RequireJS would ask a CDN for the widget libraries; every path below is relative to this script instead,
// so that it holds at any depth of page and over file://.
(() => {
  const vendor = new URL("vendor/", document.currentScript.src).href;
  window.require.config({
    paths: {
      anywidget: `${vendor}anywidget/index`,
      "@jupyter-widgets": `${vendor}html-manager`, // its icon fonts
      "@jupyter-widgets/html-manager/dist": `${vendor}html-manager`,
    },
  });
})();
