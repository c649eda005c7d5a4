// Bundles the pages' scripts: node build.mjs MODULES OUTPUT, where MODULES is a folder of unpacked packages.
// A page opened from the disk cannot import modules, so each entry becomes one classic script.
import { createRequire } from "node:module";

const [modules, outdir] = process.argv.slice(2);
const { build } = createRequire(`${modules}/`)(`${modules}/esbuild-wasm`);

// Mermaid imports each kind of diagram, and each layout, when a page needs it. These are the book's;
// the others (and the formulas, which MathJax sets) would be three quarters of the script.
const DIAGRAMS = /\/(flowDiagram|dagre)-\w+\.mjs$/;
const onlyTheDiagramsUsed = {
  name: "only-the-diagrams-used",
  setup({ onResolve, onEnd }) {
    const kept = new Set();
    onResolve({ filter: /\.mjs$/ }, ({ kind, path }) => {
      if (kind !== "dynamic-import") return null;
      const found = path.match(DIAGRAMS);
      if (found) kept.add(found[1]);
      return found ? null : { path, external: true };
    });
    onEnd(() => {
      if (kept.size === 2) return null;
      return { errors: [{ text: `mermaid does not import what ${DIAGRAMS} names` }] };
    });
  },
};

const common = {
  absWorkingDir: import.meta.dirname,
  nodePaths: [modules],
  outdir,
  bundle: true,
  minify: true,
  logLevel: "error",
};
await build({ ...common, entryPoints: ["mermaid.js"], plugins: [onlyTheDiagramsUsed] });
await build({
  ...common,
  entryPoints: ["widgets.js"],
  loader: { ".svg": "dataurl" },
  alias: { "sanitize-html": "./no_html.js" },
});
