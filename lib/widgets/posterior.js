// @ts-check
// The exact posterior of a masked sentence: forward and backward over the automaton of the course's grammar.
import { dot } from "./arrays.js";

export const MASK_ID = 4;

/** A grammar as arcs between nodes, each giving a word of one class; `size` words in the vocabulary. */
export class Grammar {
  constructor(tensors, size) {
    this.tensors = tensors;
    this.size = size;
  }

  /** P(word | the other words) at each gap, or null for what the grammar never gives. */
  posterior(ids) {
    const grammar = (name) => this.tensors[`grammar.${name}`];
    const [source, target, kind, chance] = ["arc_source", "arc_target", "arc_class", "arc_probability"].map(
      grammar,
    );
    const [emitter, emitted, emission] = ["emission_class", "emission_word", "emission_value"].map(grammar);
    const end = grammar("node_end");
    const classes = 1 + Math.max(...emitter);
    const likelihood = ids.map((id) => {
      const seen = new Float64Array(classes);
      for (let e = 0; e < emission.length; e++) {
        if (id === MASK_ID || id === emitted[e]) seen[emitter[e]] += emission[e];
      }
      return seen;
    });
    const total = (numbers) => numbers.reduce((a, b) => a + b, 0);
    const forward = [new Float64Array(end.length)];
    forward[0].set(grammar("topic_prior"));
    for (const seen of likelihood) {
      const next = new Float64Array(end.length);
      const before = forward.at(-1);
      // The automaton has ten thousand arcs, walked twice for each word: plain loops keep that under a millisecond.
      for (let a = 0; a < chance.length; a++)
        next[target[a]] += before[source[a]] * chance[a] * seen[kind[a]];
      const scale = total(next);
      if (scale === 0) return null;
      forward.push(next.map((x) => x / scale));
    }
    if (dot(end, forward.at(-1)) === 0) return null;
    let ahead = end;
    const posteriors = [];
    for (let i = ids.length - 1; i >= 0; i--) {
      const byClass = new Float64Array(classes);
      const before = new Float64Array(end.length);
      for (let a = 0; a < chance.length; a++) {
        const onward = chance[a] * ahead[target[a]];
        byClass[kind[a]] += forward[i][source[a]] * onward;
        before[source[a]] += onward * likelihood[i][kind[a]];
      }
      if (ids[i] === MASK_ID) posteriors[i] = this.wordsOf(byClass);
      const largest = before.reduce((a, b) => Math.max(a, b));
      ahead = before.map((x) => x / largest);
    }
    return posteriors;
  }

  /** The distribution over words of a distribution over word classes, which need not sum to one. */
  wordsOf(byClass) {
    const [emitter, emitted, emission] = ["emission_class", "emission_word", "emission_value"].map(
      (name) => this.tensors[`grammar.${name}`],
    );
    const words = new Float64Array(this.size);
    emission.forEach((value, e) => {
      words[emitted[e]] += byClass[emitter[e]] * value;
    });
    const scale = words.reduce((a, b) => a + b, 0);
    return words.map((x) => x / scale);
  }
}
