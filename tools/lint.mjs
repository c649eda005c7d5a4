// @ts-check
// Checks the JavaScript of the project: node tools/lint.mjs [--write] [FOLDER], where FOLDER is laid out as the
// project is. ESLint looks for mistakes, TypeScript for wrong types, Prettier for another layout than its own, which
// --write puts right. All three come as files, without presets: what they ask for is said here and in tsconfig.json.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A third-party module, imported by a computed address: the type checker does not follow it. */
const vendor = (/** @type {string} */ file) =>
  import(new URL(`../tests/_vendor/${file}`, import.meta.url).href);
const { Linter } = await vendor("eslint/linter.mjs");
const prettier = await vendor("prettier/standalone.mjs");
const plugins = await Promise.all(["babel", "estree"].map((name) => vendor(`prettier/plugins/${name}.mjs`)));
const { default: ts } = await vendor("typescript/typescript.js");

const words = (text) => text.trim().split(/\s+/);
const names = (text) => Object.fromEntries(words(text).map((name) => [name, "readonly"]));

const BROWSER = names(`
  AbortController Event MutationObserver ResizeObserver TextDecoder URL atob clearTimeout console document
  sessionStorage setTimeout window
`);
const PAGE = {
  ...BROWSER,
  ...names(`
    IntersectionObserver PerformanceObserver URLSearchParams addEventListener innerHeight localStorage location mermaid scrollTo scrollY
  `),
};
const KINDS = [
  { folder: "lib/widgets", ending: ".js", sourceType: "module", globals: BROWSER },
  { folder: "book/_static", ending: ".js", sourceType: "script", globals: PAGE },
  { folder: "tools/bundles", ending: ".js", sourceType: "module", globals: BROWSER },
  { folder: "tools/bundles", ending: ".mjs", sourceType: "module", globals: names("process") },
  { folder: "tools", ending: ".mjs", sourceType: "module", globals: names("process console URL") },
];
const MADE = ["book/_static/course_model.js"]; // written by a program, as one line of half a megabyte

// What ESLint itself recommends: code that cannot be meant.
const RECOMMENDED = `
  constructor-super for-direction getter-return no-async-promise-executor no-case-declarations no-class-assign
  no-compare-neg-zero no-cond-assign no-const-assign no-constant-binary-expression no-constant-condition
  no-control-regex no-debugger no-delete-var no-dupe-args no-dupe-class-members no-dupe-else-if no-dupe-keys
  no-duplicate-case no-empty no-empty-character-class no-empty-pattern no-empty-static-block no-ex-assign
  no-extra-boolean-cast no-fallthrough no-func-assign no-global-assign no-import-assign no-invalid-regexp
  no-irregular-whitespace no-loss-of-precision no-misleading-character-class no-new-native-nonconstructor
  no-nonoctal-decimal-escape no-obj-calls no-octal no-prototype-builtins no-redeclare no-regex-spaces no-self-assign
  no-setter-return no-shadow-restricted-names no-sparse-arrays no-this-before-super no-unassigned-vars no-undef
  no-unexpected-multiline no-unreachable no-unsafe-finally no-unsafe-negation no-unsafe-optional-chaining
  no-unused-labels no-unused-private-class-members no-unused-vars no-useless-assignment no-useless-backreference
  no-useless-catch no-useless-escape no-with preserve-caught-error require-yield use-isnan valid-typeof
`;
// What this project asks besides: no stray globals, no text that becomes code, one way to say a thing.
const STRICTER = `
  array-callback-return block-scoped-var default-case-last eqeqeq no-alert no-array-constructor
  no-caller no-constructor-return no-else-return no-eval no-extend-native no-extra-bind
  no-implied-eval no-iterator no-labels no-lonely-if no-new no-new-func no-new-wrappers no-proto
  no-return-assign no-script-url no-self-compare no-sequences no-template-curly-in-string no-throw-literal
  no-unneeded-ternary no-unreachable-loop no-unused-expressions no-useless-call no-useless-computed-key
  no-useless-concat no-useless-constructor no-useless-rename no-useless-return no-var object-shorthand
  prefer-arrow-callback prefer-const prefer-object-spread prefer-rest-params prefer-spread prefer-template
`;
// Where text becomes markup. The one place that needs it says why, in a comment that turns the rule off there.
const MARKUP = [
  "AssignmentExpression > MemberExpression.left > [name=/^(inner|outer)HTML$/].property",
  "AssignmentExpression > MemberExpression.left > [value=/^(inner|outer)HTML$/].property",
  "Property[key.name=/^(inner|outer)HTML$/]",
  "CallExpression[callee.property.name=/^(insertAdjacentHTML|setHTMLUnsafe)$/]",
  "CallExpression[callee.object.name='document'][callee.property.name=/^write/]",
].map((selector) => ({ selector, message: "Text becomes markup here: build elements and set textContent." }));
const rules = Object.fromEntries(words(`${RECOMMENDED} ${STRICTER}`).map((rule) => [rule, "error"]));
Object.assign(rules, {
  "no-implicit-globals": ["error", { lexicalBindings: true }],
  "no-shadow": ["error", { builtinGlobals: false }],
  "no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
  "no-restricted-syntax": ["error", ...MARKUP],
});

const LAYOUT = { parser: "babel", printWidth: 110, plugins };
const LIBRARIES = {
  ".js": { lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"] },
  ".mjs": { lib: ["lib.esnext.d.ts"], types: ["node"] },
};

const flags = process.argv.slice(2);
const write = flags.includes("--write");
const root = flags.find((flag) => !flag.startsWith("--")) ?? join(import.meta.dirname, "..");
const files = KINDS.flatMap((kind) =>
  readdirSync(join(root, kind.folder))
    .filter((name) => name.endsWith(kind.ending))
    .sort()
    .map((name) => ({ ...kind, name: `${kind.folder}/${name}`, path: join(root, kind.folder, name) })),
);
const linter = new Linter();
const problems = [];
const report = (name, line, column, message, rule) => {
  problems.push(`${name}:${line}:${column}: ${message} (${rule})`);
};

/** Code that cannot be meant. */
function lint({ name, path, sourceType, globals }) {
  const config = {
    languageOptions: { ecmaVersion: "latest", sourceType, globals },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules,
  };
  for (const { line, column, ruleId, message } of linter.verify(readFileSync(path, "utf8"), config)) {
    report(name, line, column, message, ruleId ?? "syntax");
  }
}

/** A layout that is not Prettier's: the first line that differs, or the file put right. */
async function checkLayout({ name, path }) {
  const text = readFileSync(path, "utf8");
  const wanted = await prettier.format(text, LAYOUT).catch(() => text); // the linter reports what cannot be read
  if (text === wanted) return;
  if (write) {
    writeFileSync(path, wanted);
    return;
  }
  const right = wanted.split("\n");
  const line = text.split("\n").findIndex((found, k) => found !== right[k]);
  const hint = `Prettier writes ${JSON.stringify(right[line] ?? "")} (node tools/lint.mjs --write)`;
  report(name, line + 1, 1, hint, "prettier");
}

/** Wrong types, in the files that run in the same place: in a page, or in Node. */
function checkTypes(ending) {
  const own = files.filter(({ name }) => name.endsWith(ending) && !MADE.includes(name));
  const { config } = ts.readConfigFile(join(import.meta.dirname, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, import.meta.dirname);
  const typed = { typeRoots: [join(import.meta.dirname, "../tests/_vendor/types")], ...LIBRARIES[ending] };
  const packages = ["@jupyter-widgets/*", "@lumino/*"]; // those that come with their types
  const paths = Object.fromEntries(
    packages.map((name) => [name, [join(import.meta.dirname, "_vendor", name)]]),
  );
  const given = [...own.map(({ path }) => path), join(import.meta.dirname, "globals.d.ts")];
  const program = ts.createProgram(given, { ...options, ...typed, paths });
  for (const { name, path } of own) {
    const source = program.getSourceFile(path);
    for (const { start, messageText, code } of program.getSemanticDiagnostics(source)) {
      const { line, character } = source.getLineAndCharacterOfPosition(start);
      report(name, line + 1, character + 1, ts.flattenDiagnosticMessageText(messageText, " "), `TS${code}`);
    }
    if (!source.text.startsWith("// @ts-check\n")) report(name, 1, 1, "begin with // @ts-check", "types");
  }
}

for (const file of files) {
  lint(file);
  if (!MADE.includes(file.name)) await checkLayout(file);
}
if (files.length) for (const ending of Object.keys(LIBRARIES)) checkTypes(ending);
for (const problem of problems) console.error(problem);
console.log(`${files.length} JavaScript files linted, formatted and typed, ${problems.length} problems`);
process.exitCode = files.length === 0 || problems.length > 0 ? 1 : 0;
