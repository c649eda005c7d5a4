"""A probabilistic grammar in rule form, and the finite weighted automaton that it compiles to.

The form of a grammar
    `rules` maps each nonterminal to its alternatives, `(weight, body)` pairs; weights are positive and are
    normalised per nonterminal. A body is a string of symbols separated by spaces, or a sequence of symbols;
    an empty body is the empty string. A symbol with rules is a nonterminal, any other is a word; `S` is the
    start.
    `(name` and `)` in a body bracket a span of words: they are labels, and add no word.
    `Grammar.from_text` reads the same thing written as lines such as `NP -> 0.7 DET N | 0.3 DET N ADJ`.

What it compiles to
    Reading from left to right, all that the past says about the future is the stack of symbols that are still
    to be expanded. So a node is such a stack, and an arc `(source, class, probability, target)` emits one
    word from a lexical class: a nonterminal whose alternatives are all single words, or a word in a rule.
    Equal stacks are one node, which keeps the automaton small. It is finite for every grammar without
    recursion, and for right recursion; anything else is refused.

Tokens
    Words are whole tokens. The special tokens come first in the vocabulary and the grammar never emits them:
    a sentence enters a model as `[CLS] w1 ... wn [SEP]`, and as a next word `[SEP]` stands for "end".
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from lib.vocabulary import PAD, SPECIAL_TOKENS, Vocabulary

START = "S"
MAX_NODES = 100_000
MAX_DEPTH = 200  # nested expansions before a word, and symbols waiting on a stack


@dataclass(frozen=True)
class Expansion:
    """One way to go on from a stack: marks met on the way, the class that emits (None: end), the rest."""

    marks: tuple[str, ...]
    lexical: str | None
    rest: tuple[str, ...]


class Grammar:
    """A compiled grammar. See the module docstring for the form of `rules`.

    topics      nonterminals, each alone in one alternative of `S`, that become sentence labels;
                a mapping gives each label its nonterminal
    attributes  labels of lexical classes, e.g. `{"N_animal": {"sense": "animal"}}`
    extra_words words of the vocabulary that the grammar never emits (for tasks built on it)
    """

    def __init__(
        self,
        rules: Mapping[str, Iterable[tuple[float, str | Sequence[str]]]],
        *,
        topics: Sequence[str] | Mapping[str, str] = (),
        attributes: Mapping[str, Mapping[str, str]] | None = None,
        extra_words: Sequence[str] = (),
    ):
        self.rules = _checked_rules(rules)
        self.lexical = {
            name
            for name, alternatives in self.rules.items()
            if all(len(body) == 1 and self._is_word(body[0]) for _, body in alternatives)
        }
        self._set_topics(topics if isinstance(topics, Mapping) else {name: name for name in topics})
        self.vocabulary = Vocabulary((*SPECIAL_TOKENS, *self._distinct_words(extra_words)))
        self._compile()
        attributes = attributes or {}
        self.attributes = {name: dict(attributes.get(name, {})) for name in self.classes}
        if unknown := set(attributes) - set(self.classes):
            raise ValueError(f"attributes: {sorted(unknown)[:5]} are no lexical classes of the grammar")

    @classmethod
    def from_text(cls, text: str, **options) -> "Grammar":
        """Read lines `NAME -> weight symbols | weight symbols`; no weight means 1, `#` starts a comment."""
        rules: dict[str, list[tuple[float, str]]] = {}
        for number, line in enumerate(text.splitlines(), 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            name, arrow, bodies = (part.strip() for part in line.partition("->"))
            if not arrow or not name or " " in name:
                raise ValueError(f"text must hold 'NAME -> weight symbols', got {line!r} in line {number}")
            for body in bodies.split("|"):
                weight = re.match(r"\s*(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)(?=\s|$)", body)
                entry = (float(weight[1]), body[weight.end() :].strip()) if weight else (1.0, body.strip())
                rules.setdefault(name, []).append(entry)
        return cls(rules, **options)

    def __len__(self) -> int:
        """Size of the vocabulary, special tokens included."""
        return len(self.vocabulary)

    def __repr__(self) -> str:
        return (
            f"Grammar({len(self) - len(SPECIAL_TOKENS)} words, {len(self.classes)} classes, "
            f"{self.node_end.numel()} nodes, {self.arc_source.numel()} arcs, {len(self.topics)} topics)"
        )

    # -- words and ids

    def encode(self, sentence: str | Sequence[str]) -> Tensor:
        """Ids of a sentence's words, `[MASK]` allowed; a word that is not in the vocabulary is an error."""
        words = sentence.split() if isinstance(sentence, str) else list(sentence)
        if not words:
            raise ValueError("sentence must hold at least one word, got none")
        if unknown := [word for word in words if word not in self.vocabulary.ids]:
            raise ValueError(f"sentence must hold known words; {unknown} are not in the vocabulary")
        return torch.tensor([self.vocabulary.ids[word] for word in words])  # (N,)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Words of a row of ids, without padding."""
        return [self.vocabulary[int(i)] for i in ids if int(i) != PAD]

    # -- compilation

    def _is_word(self, symbol: str) -> bool:
        return symbol not in self.rules and not _is_mark(symbol)

    def _set_topics(self, topics: Mapping[str, str]) -> None:
        self.topics = tuple(topics) or (START,)
        self.topic_symbols = tuple(topics.values()) or (START,)
        if not topics:
            self.topic_prior = torch.ones(1, dtype=torch.float64)
            return
        prior = dict.fromkeys(self.topic_symbols, 0.0)
        for weight, body in self.rules[START]:
            if len(body) != 1 or body[0] not in prior:
                raise ValueError(f"topics must stand alone in the alternatives of {START!r}, got {body}")
            prior[body[0]] += weight
        if missing := [topic for topic, weight in prior.items() if weight == 0]:
            raise ValueError(f"topics: {missing} are not alternatives of {START!r}")
        self.topic_prior = torch.tensor(list(prior.values()), dtype=torch.float64)  # (T,)

    def _distinct_words(self, extra_words: Sequence[str]) -> list[str]:
        bodies = (body for alternatives in self.rules.values() for _, body in alternatives)
        found = (symbol for body in bodies for symbol in body if self._is_word(symbol))
        words = dict.fromkeys((*found, *extra_words))
        if clash := [word for word in words if word in SPECIAL_TOKENS]:
            raise ValueError(f"rules: {clash} are special tokens, which a grammar cannot emit")
        if not words:
            raise ValueError(f"rules: {START!r} can give sentences with no words only")
        return list(words)

    def _steps(self, stack: tuple[str, ...], depth: int = 0) -> dict[Expansion, float]:
        """Every way to reach the next word (or the end) from a stack, with its probability."""
        marks: tuple[str, ...] = ()
        while stack and _is_mark(stack[0]):
            marks, stack = (*marks, stack[0]), stack[1:]
        if not stack:
            return {Expansion(marks, None, ()): 1.0}
        steps: dict[Expansion, float] = {}
        for first, probability in self._openings(stack[0], depth).items():
            if first.lexical is not None:
                onward = {Expansion(first.marks, first.lexical, first.rest + stack[1:]): 1.0}
            else:  # the symbol gave no word: the next one on the stack goes on
                onward = self._steps((*first.marks, *stack[1:]), depth)
            for step, share in onward.items():
                full = Expansion(marks + step.marks, step.lexical, step.rest)
                steps[full] = steps.get(full, 0.0) + probability * share
        return steps

    def _openings(self, symbol: str, depth: int) -> dict[Expansion, float]:
        """The steps from one symbol alone, worked out once."""
        if symbol not in self._known_openings:
            if depth > MAX_DEPTH:
                raise ValueError(f"rules: {symbol!r} is left-recursive, so the automaton would not be finite")
            if symbol not in self.rules or symbol in self.lexical:
                return {Expansion((), symbol, ()): 1.0}
            steps: dict[Expansion, float] = {}
            for weight, body in self.rules[symbol]:
                for step, probability in self._steps(body, depth + 1).items():
                    steps[step] = steps.get(step, 0.0) + weight * probability
            self._known_openings[symbol] = steps
        return self._known_openings[symbol]

    def _compile(self) -> None:
        self._known_openings: dict[str, dict[Expansion, float]] = {}
        nodes: dict[tuple[str, ...], int] = {(symbol,): i for i, symbol in enumerate(self.topic_symbols)}
        classes: dict[str, int] = {}
        arcs, arc_marks, ends = [], [], []
        pending = list(nodes)
        for stack in pending:  # grows while it is walked
            end_mass = 0.0
            for step, probability in self._steps(stack).items():
                if step.lexical is None:
                    end_mass += probability
                    continue
                if step.rest not in nodes:
                    nodes[step.rest] = len(nodes)
                    pending.append(step.rest)
                if len(nodes) > MAX_NODES or len(step.rest) > MAX_DEPTH:
                    raise ValueError("rules: not finite; recursion is allowed only at the end of a body")
                klass = classes.setdefault(step.lexical, len(classes))
                arcs.append((nodes[stack], klass, nodes[step.rest], probability))
                arc_marks.append(step.marks)
            ends.append(end_mass)
        if not arcs or any(ends[i] > 0 for i in range(len(self.topics))):
            raise ValueError(f"rules: {START!r} can give a sentence with no words")
        source, klass, target, probability = zip(*arcs, strict=True)
        self.classes = tuple(classes)
        self.arc_source = torch.tensor(source)  # (A,), in ascending order of the source
        self.arc_class = torch.tensor(klass)
        self.arc_target = torch.tensor(target)
        self.arc_probability = torch.tensor(probability, dtype=torch.float64)
        self.arc_marks = tuple(arc_marks)
        self.node_end = torch.tensor(ends, dtype=torch.float64)  # (Q,)
        self.emission = self._emission()
        del self._known_openings
        self._check_that_sentences_end()

    def _emission(self) -> Tensor:
        emission = torch.zeros(len(self.classes), len(self), dtype=torch.float64)  # (C, V)
        for i, name in enumerate(self.classes):
            for weight, body in self.rules.get(name, [(1.0, (name,))]):
                emission[i, self.vocabulary.ids[body[0]]] += weight
        return emission

    def _check_that_sentences_end(self) -> None:
        can_end = self.node_end > 0
        while True:
            grown = can_end.clone()
            grown[self.arc_source[can_end[self.arc_target]]] = True
            if torch.equal(grown, can_end):
                break
            can_end = grown
        if not can_end.all():
            raise ValueError("rules: some sentence can never end: a recursion has no way to stop")


def _is_mark(symbol: str) -> bool:
    return symbol == ")" or (symbol.startswith("(") and len(symbol) > 1)


def _checked_rules(rules) -> dict[str, list[tuple[float, tuple[str, ...]]]]:
    if not isinstance(rules, Mapping):
        raise TypeError(f"rules must map nonterminals to alternatives, got {type(rules).__name__}")
    if START not in rules:
        raise ValueError(f"rules: {START!r}, the start, has no rule")
    checked = {}
    for name, alternatives in rules.items():
        alternatives = [
            (float(weight), tuple(body.split() if isinstance(body, str) else body))
            for weight, body in alternatives
        ]
        if not alternatives:
            raise ValueError(f"rules: {name!r} has no alternative")
        if bad := [weight for weight, _ in alternatives if not (math.isfinite(weight) and weight > 0)]:
            raise ValueError(f"rules must have positive finite weights, got {bad} for {name!r}")
        for _, body in alternatives:
            _check_brackets(name, body)
        total = math.fsum(weight for weight, _ in alternatives)
        checked[name] = [(weight / total, body) for weight, body in alternatives]
    return checked


def _check_brackets(name: str, body: tuple[str, ...]) -> None:
    depths = [0, *accumulate(-1 if symbol == ")" else 1 for symbol in body if _is_mark(symbol))]
    if min(depths) < 0 or depths[-1] != 0:
        raise ValueError(f"rules: {name!r} has the body {body}, in which brackets do not match")
