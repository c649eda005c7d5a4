// @ts-check
// Typesets formulas: node formulas.mjs < FORMULAS, a JSON list of [TeX, display]. Answers with a list of {mathml}
// or, for what is not TeX, {problem}.
import { text } from "node:stream/consumers";
import temml from "./_vendor/temml/dist/temml.mjs";

// The typesetter leaves out the thin space between a closing bracket and the name of a function.
const TOUCHING =
  /(<mo fence="true" form="postfix"[^>]*>[^<]+<\/mo><\/mrow>)(?=(<mrow>)?<mi>\w+<\/mi><mo>\u2061<\/mo>)/g;

function typeset([tex, displayMode]) {
  try {
    const mathml = temml.renderToString(tex, { displayMode, throwOnError: true, wrap: "none" });
    const spaced = mathml.replace(TOUCHING, '$1<mspace width="0.1667em"></mspace>');
    return { mathml: spaced.replaceAll("<mo>…</mo>", "<mi>…</mi>") }; // it holds a place, and is no operator
  } catch (problem) {
    return { problem: problem.message };
  }
}

process.stdout.write(JSON.stringify(JSON.parse(await text(process.stdin)).map(typeset)));
