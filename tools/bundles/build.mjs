// @ts-check
// Bundles the pages' scripts: node build.mjs MODULES OUTPUT, where MODULES is a folder of unpacked packages.
// A page opened from the disk cannot import modules, so each entry becomes one classic script.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const [modules, outdir] = process.argv.slice(2);
const { build } = createRequire(`${modules}/`)(`${modules}/esbuild-wasm`);

// Mermaid imports each kind of diagram, and each layout, when a page needs it. These are the book's;
// the others (and formulas, of which diagrams have none) would be three quarters of the script.
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

// anywidget calls a widget broken that is not ready within two seconds. On a slow or busy machine it is just not
// ready yet, and appears a little later: no reason for an error.
const HURRY = "AbortSignal.timeout(2e3)";
const patience = {
  name: "patience",
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]anywidget[/\\]index\.js$/ }, async ({ path }) => {
      const parts = (await readFile(path, "utf8")).split(HURRY);
      if (parts.length !== 2) return { errors: [{ text: `anywidget does not say ${HURRY} once` }] };
      return { contents: parts.join("new AbortController().signal") };
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
  plugins: [patience],
});
