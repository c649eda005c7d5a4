"""`python -m lib preencher`: the words and probabilities of transformers' own fill-mask."""

import re

import pytest
import transformers

from lib.commands import main
from lib.corpus import PORTUGUESE, posterior, sample
from tools.console import ROOT


def rows(told: str) -> list[tuple[str, float]]:
    return [(word, float(p)) for word, p in re.findall(r"^  (\S+) +(\d\.\d{4})$", told, re.MULTILINE)]


def test_it_says_what_transformers_says(masked, capsys):
    assert main(["preencher", "O gato [MASK] na casa.", "--modelo", str(masked), "--palavras", "4"]) == 0
    theirs = transformers.pipeline("fill-mask", str(masked), top_k=12)("O gato [MASK] na casa.")
    words = {row["token_str"]: row["score"] for row in theirs}
    for word, probability in rows(capsys.readouterr().out):
        # Theirs leaves a little probability on special tokens, which are no words.
        assert probability == pytest.approx(words[word], rel=0.1)


def test_a_word_that_the_model_cannot_read_is_told(masked, capsys):
    assert main(["preencher", "O gato 😀 viu 漢 e [MASK].", "--modelo", str(masked)]) == 0
    told = capsys.readouterr().out
    assert "lê como [UNK]: 😀, 漢." in told and len(rows(told)) == 5


def test_several_gaps_are_answered_one_by_one(masked, capsys):
    assert main(["preencher", "O", "[MASK]", "dorme na [MASK].", "--modelo", str(masked.parent)]) == 0
    told = capsys.readouterr().out
    assert "lacuna 1:" in told and "lacuna 2:" in told and len(rows(told)) == 10


def test_the_courses_own_model_knows_the_grammar(capsys):
    words = str(sample(PORTUGUESE, 1, seed=11)[0]).split()
    words[2] = "[MASK]"
    folder = ROOT / "lib" / "models" / "masked"
    assert main(["preencher", *words, "--modelo", str(folder), "--palavras", "1"]) == 0
    exact = posterior(PORTUGUESE, words)[2]
    [(word, probability)] = rows(capsys.readouterr().out)
    assert exact[PORTUGUESE.vocabulary.id_of(word)] == pytest.approx(probability, abs=0.2)


def test_a_published_bert_answers(published, capsys):
    assert main(["preencher", "O gato [MASK].", "--modelo", str(published)]) == 0
    assert len(rows(capsys.readouterr().out)) == 5
