"""What a tokenizer does to words that it did not learn from: how many pieces, which words, what is [UNK]."""

from collections import Counter
from collections.abc import Mapping, Sequence

from lib.project.text import words_of
from lib.tokenizer import Tokenizer


def pieces_per_word(tokenizer: Tokenizer, sentences: Sequence[str]) -> float:
    """Mean number of pieces of a word, each occurrence counted."""
    counts = Counter(word for sentence in sentences for word in words_of(sentence))
    return sum(n * len(tokenizer.tokenize(word)) for word, n in counts.items()) / sum(counts.values())


def unknown(tokenizer: Tokenizer, sentences: Sequence[str]) -> tuple[int, int]:
    """How many tokens of the sentences are [UNK], and how many tokens there are."""
    ids = [i for sentence in sentences for i in tokenizer.encode(sentence).ids[1:-1]]
    return ids.count(tokenizer.vocabulary.unk_id), len(ids)


def unread(tokenizer: Tokenizer, sentences: Sequence[str]) -> list[str]:
    """The words that are [UNK], each once, in the order in which they come."""
    encodings = map(tokenizer.encode, sentences)
    unk = tokenizer.vocabulary.unk_id
    return [*dict.fromkeys(w.text for e in encodings for w in e.words if e.ids[w.start] == unk)]


def most_cut(tokenizer: Tokenizer, sentences: Sequence[str], top: int) -> Mapping[str, list[str]]:
    """The words that come in most pieces, with these."""
    words = sorted({word for sentence in sentences for word in words_of(sentence)})
    cut = {word: tokenizer.tokenize(word) for word in words}
    return {word: cut[word] for word in sorted(words, key=lambda word: -len(cut[word]))[:top]}
