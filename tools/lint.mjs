// Lints the JavaScript of the project: node tools/lint.mjs [FOLDER], where FOLDER is laid out as the project is.
// ESLint comes as one file, without its presets: the rules are named here, and the globals that code may touch.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Linter } from "../tests/_vendor/eslint/linter.mjs";

const names = (text) => Object.fromEntries(text.trim().split(/\s+/).map((name) => [name, "readonly"]));

const BROWSER = names(`
  AbortController MutationObserver ResizeObserver TextDecoder URL atob clearTimeout console document
  sessionStorage setTimeout window
`);
const KINDS = [
  { folder: "lib/widgets", ending: ".js", sourceType: "module", globals: BROWSER },
  { folder: "book/_static", ending: ".js", sourceType: "script", globals: { ...BROWSER, ...names("MathJax mermaid") } },
  { folder: "tools/bundles", ending: ".js", sourceType: "module", globals: BROWSER },
  { folder: "tools/bundles", ending: ".mjs", sourceType: "module", globals: names("process") },
  { folder: "tools", ending: ".mjs", sourceType: "module", globals: names("process console") },
];

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
const rules = Object.fromEntries(`${RECOMMENDED} ${STRICTER}`.trim().split(/\s+/).map((rule) => [rule, "error"]));
Object.assign(rules, {
  "no-implicit-globals": ["error", { lexicalBindings: true }],
  "no-shadow": ["error", { builtinGlobals: false }],
  "no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
  "no-restricted-syntax": ["error", ...MARKUP],
});

const linter = new Linter();
const root = process.argv[2] ?? join(import.meta.dirname, "..");
let files = 0;
let problems = 0;
for (const { folder, ending, sourceType, globals } of KINDS) {
  for (const name of readdirSync(join(root, folder)).filter((file) => file.endsWith(ending)).sort()) {
    const config = {
      languageOptions: { ecmaVersion: "latest", sourceType, globals },
      linterOptions: { reportUnusedDisableDirectives: "error" },
      rules,
    };
    const found = linter.verify(readFileSync(join(root, folder, name), "utf8"), config);
    for (const { line, column, ruleId, message } of found) {
      console.error(`${folder}/${name}:${line}:${column}: ${message} (${ruleId ?? "syntax"})`);
    }
    files += 1;
    problems += found.length;
  }
}
console.log(`${files} JavaScript files linted, ${problems} problems`);
process.exitCode = files === 0 || problems > 0 ? 1 : 0;
