"""What a run reads: batches, from texts of the user's or from a grammar, and the tokenizer for them."""

import argparse
import hashlib
from dataclasses import dataclass

from lib.commands.console import Refusal
from lib.commands.models import Opened
from lib.commands.texts import paragraphs_of, read_grammar, read_texts, require_pairs, source_of, split
from lib.corpus import PORTUGUESE
from lib.tokenizer import Tokenizer
from lib.training.data import GrammarSource, Source, TextSource
from lib.training.objectives import OBJECTIVES

HELD_OUT_SEED = -1  # no run may have it
HELD_OUT = 256  # sentences in a batch of evaluation
LENGTH = 64  # tokens in a row of a text, where nothing else is asked for


@dataclass(frozen=True)
class Material:
    """What a run reads: a source to train on, one to evaluate on, how often, and what identifies the data."""

    source: Source
    held_out: Source
    batches: int
    positions: int  # as many as the longest row has tokens: more would never be trained
    identity: dict
    tokenizer: Tokenizer


def material(options: argparse.Namespace, start: Opened | None = None) -> Material:
    """The sources that the options ask for; from a model, with its tokenizer and no longer than it reads."""
    pairs = OBJECTIVES[options.objective].pooler
    if not options.texts:
        grammar = read_grammar(options.grammar) if options.grammar else PORTUGUESE
        if start:
            start.require_words(grammar)
        source = GrammarSource(grammar, options.batch, options.seed)
        held_out = GrammarSource(grammar, HELD_OUT, HELD_OUT_SEED)
        positions = source.max_length * (2 if pairs else 1)
        identity = {"grammar": digest(repr(grammar.rules))}
        tokenizer = Tokenizer.of_words(grammar.vocabulary)
        return Material(source, held_out, options.evaluate_batches, positions, identity, tokenizer)
    text = read_texts(options.texts)
    documents, out = split(paragraphs_of(text))
    if pairs:
        require_pairs(documents, out)
    tokenizer = start.tokenizer if start else tokenizer_of(options, [s for d in documents for s in d])
    if options.units != "tokens" and not tokenizer.vocabulary.continues.any():
        told = "precisa de um tokenizador WordPiece, que marca as partes com ##"
        raise Refusal(f"--ocultar {options.units} {told}.")
    longest = longest_row(options.max_length, start)
    source = source_of(documents, tokenizer, options.batch, options.seed, longest)
    positions = longest_pair(source) if pairs else source.blocks.shape[1]
    held_out = source_of(out, tokenizer, HELD_OUT // 4, HELD_OUT_SEED, positions)
    batches = min(options.evaluate_batches, -(-len(held_out.blocks) // held_out.batch))
    identity = {"text": digest(text), "vocabulary": digest("\n".join(tokenizer.vocabulary))}
    return Material(source, held_out, batches, positions, identity, tokenizer)


def longest_row(asked: int | None, start: Opened | None) -> int:
    """Tokens in a row of a text: as many as are asked for, if the model that is begun from can hold them."""
    most = start.config.max_length if start else asked or LENGTH
    if asked and asked > most:
        raise Refusal(f"--comprimento {asked} é demais: o modelo de partida lê até {most} tokens.")
    return asked or min(LENGTH, most)


def longest_pair(source: TextSource) -> int:
    """Tokens of the longest [CLS] A [SEP] B [SEP], in which each sentence has half of the row at most."""
    half = (source.max_length - 3) // 2
    first, second = (
        max(len(sentence) for document in source.documents for sentence in document[part])
        for part in (slice(None, -1), slice(1, None))
    )
    return 3 + min(first, half) + min(second, half)


def tokenizer_of(options: argparse.Namespace, sentences: list[str]) -> Tokenizer:
    """The tokenizer that the options name, or one trained on these sentences."""
    if options.tokenizer:
        try:
            return Tokenizer.load(options.tokenizer)
        except (ValueError, OSError):
            told = "não é um tokenizer.json de WordPiece com os tokens especiais do BERT"
            raise Refusal(f"o tokenizador {options.tokenizer} não serve: não existe, ou {told}.") from None
    try:
        return Tokenizer.train(sentences, options.vocab_size)
    except ValueError:
        letters = len({character for sentence in sentences for character in sentence} - {" "})
        raise Refusal(
            f"--vocabulario {options.vocab_size} é pouco: o texto usa {letters} caracteres diferentes, e "
            "cada um entra duas vezes no vocabulário, no começo e no meio de uma palavra."
        ) from None


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
