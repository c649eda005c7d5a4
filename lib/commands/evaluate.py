"""`python -m lib avaliar TEXTO --modelo PASTA`: what a model loses on a text, beside the floor if known."""

import argparse
from collections.abc import Sequence

import torch
from torch import Tensor

from lib.commands.console import QUIET, SEED, Parser, Row, whole
from lib.commands.models import OPTION, Opened, mostly_unknown, open_model
from lib.commands.texts import GRAMMAR, TEXTS, paragraphs_of, read_grammar, read_texts, source_of
from lib.corpus import PORTUGUESE, Grammar, leave_one_out
from lib.heads import CausalLM, MaskedLM
from lib.losses import IGNORE_INDEX, perplexity, pseudo_log_likelihood
from lib.progress import track
from lib.training.data import GrammarSource, Source
from lib.training.loop import evaluate, hold_out
from lib.training.objectives import Masked, NextWord, Objective, label_surprisal
from lib.vocabulary import PAD

BATCH = 64
OPTIONS: dict[str, Sequence[Row]] = {
    "o que medir": (TEXTS, GRAMMAR, OPTION),
    "como medir": (
        ("--lotes N", "batches", whole(1), 16, f"lotes de {BATCH} sequências para a perda, no máximo"),
        ("--frases N", "sentences", whole(1), 64, "sequências para a pseudoperplexidade, no máximo"),
        SEED,
        QUIET,
    ),
}


def main(arguments: Sequence[str]) -> int:
    parser = Parser("avaliar", "Mede um modelo num texto, ou na gramática, cujo piso é conhecido.", OPTIONS)
    options = parser.parse_args(arguments)
    if options.texts and options.grammar:
        parser.error("um texto ou uma gramática (--gramatica), não os dois")
    text = read_texts(options.texts, least=1) if options.texts else None
    opened = open_model(options.model)
    objective = objective_of(opened)
    source = source_for(options, text, opened)
    blocks = getattr(source, "blocks", None)
    if blocks is not None:
        known = source.vocabulary
        for line in mostly_unknown(int((blocks == known.unk_id).sum()), int((blocks != known.pad_id).sum())):
            print(f"{line} O que não conhece não entra na medida.")
    batches = options.batches if blocks is None else min(options.batches, -(-len(blocks) // BATCH))
    held_out = hold_out(objective, source, batches)
    show("", evaluate(objective, held_out)[objective.terms[0]], held_out.floor)
    if isinstance(opened.model, MaskedLM):
        show_pseudo(opened.model, source, options)
    return 0


def objective_of(opened: Opened) -> Objective:
    """The exercise that the model was trained on, in evaluation mode."""
    if isinstance(opened.model, CausalLM):
        return NextWord(opened.model).eval()
    return Masked(opened.masked("pode ser avaliado num texto")).eval()


def source_for(options: argparse.Namespace, text: str | None, opened: Opened) -> Source:
    """What is read: the text, in rows that the model can hold, or sentences of the grammar."""
    if text is not None:
        return source_of(paragraphs_of(text), opened.tokenizer, BATCH, options.seed, opened.config.max_length)
    grammar = read_grammar(options.grammar) if options.grammar else PORTUGUESE
    opened.require_words(grammar)
    return GrammarSource(grammar, BATCH, options.seed)


def show(kind: str, loss: float, floor: float | None) -> None:
    """Nats per token and what they amount to, with the floor of these very predictions beside them."""
    names = {"": ("perda", "perplexidade"), "pseudo": ("pseudoperda", "pseudoperplexidade")}[kind]
    beside = "", ""
    if floor is not None:
        excess = f"{100 * (loss / floor - 1):+.1f}%"
        beside = f"  (piso {floor:.4f}, {excess})", f"  (piso {perplexity(floor):.2f})"
    print(f"{names[0]:<20}{loss:.4f} nats por token{beside[0]}")
    print(f"{names[1]:<20}{perplexity(loss):.2f}{beside[1]}")


def show_pseudo(model: MaskedLM, source: Source, options: argparse.Namespace) -> None:
    """One token hidden at a time, all the others seen (Salazar et al., 2020)."""
    vocabulary, rows = source.vocabulary, source.sentences(0)[: options.sentences]
    scored, total = vocabulary.is_ordinary(rows), 0.0

    def logits(ids: Tensor) -> Tensor:
        return model(ids, ids != vocabulary.pad_id)

    for part in track(torch.arange(len(rows)).split(4), "pseudoperplexidade", shown=not options.quiet):
        total -= float(pseudo_log_likelihood(logits, rows[part], vocabulary.mask_id, scored[part]).sum())
    floor = exact_pseudo(source.grammar, rows) if isinstance(source, GrammarSource) else None
    show("pseudo", total / int(scored.sum()), floor)


def exact_pseudo(grammar: Grammar, rows: Tensor) -> float:
    """What the exact posterior loses at each word, were it the only one hidden."""
    ordinary = grammar.vocabulary.is_ordinary(rows)
    words = rows.masked_fill(~ordinary, PAD)[:, 1:]  # [CLS] off, [SEP] out
    labels = words.masked_fill(words == PAD, IGNORE_INDEX)
    return float(label_surprisal(leave_one_out(grammar, words), labels).mean())
