"""`python -m lib avaliar`: figures that agree with the losses of the library, beside the exact floor."""

import math
import re

import pytest
import torch

from lib.commands import main
from lib.commands.evaluate import exact_pseudo
from lib.corpus import Grammar
from lib.losses import pseudo_perplexity
from lib.tokenizer import Tokenizer
from lib.training import GrammarSource
from lib.weights import load, save
from tests.toy import TOY, TOY_TEXT, toy_objective


def figures(told: str) -> dict[str, float]:
    return {name: float(value) for name, value in re.findall(r"^(\w+) +(\d+\.\d+)", told, re.MULTILINE)}


def test_a_model_that_knows_nothing_is_as_good_as_a_guess(masked, text, capsys):
    """The weights that a model begins with give all words nearly the same probability."""
    assert main(["avaliar", str(text), "--modelo", str(masked), "--frases", "3", "--silencioso"]) == 0
    found, size = figures(capsys.readouterr().out), load(masked).tokenizer.size
    assert found["perda"] == pytest.approx(math.log(size), rel=0.02)
    assert found["perplexidade"] == pytest.approx(math.exp(found["perda"]), rel=1e-3)
    assert found["pseudoperplexidade"] == pytest.approx(size, rel=0.1)


def test_a_causal_model_has_no_pseudo_perplexity(causal, text, capsys):
    assert main(["avaliar", str(text), "--modelo", str(causal)]) == 0
    assert figures(capsys.readouterr().out).keys() == {"perda", "perplexidade"}


def test_on_a_grammar_the_floor_stands_beside(tmp_path, capsys):
    model = toy_objective("mlm").model
    save(tmp_path / "modelo", model, Tokenizer.of_words(TOY.vocabulary))
    (tmp_path / "toy.txt").write_text(TOY_TEXT, encoding="utf-8")
    options = ["--gramatica", str(tmp_path / "toy.txt"), "--modelo", str(tmp_path), "--silencioso"]
    assert main(["avaliar", *options]) == 0
    told = capsys.readouterr().out
    floors = [float(x) for x in re.findall(r"piso (\d+\.\d+)", told)]
    found = list(figures(told).values())
    assert len(floors) == 4 and all(floor < value for floor, value in zip(floors, found, strict=True))
    grammar = Grammar.from_text(TOY_TEXT)
    rows = GrammarSource(grammar, 64, 0).sentences(0)
    assert floors[2] == pytest.approx(exact_pseudo(grammar, rows), abs=1e-4)
    # Measured on the same rows by the library's own function.
    pseudo = pseudo_perplexity(
        lambda ids: model.eval()(ids, ids != 0), rows, 4, TOY.vocabulary.is_ordinary(rows)
    )
    assert found[3] == pytest.approx(pseudo, rel=1e-3)


def test_the_floor_of_the_pseudo_loss_is_what_the_exact_answer_loses():
    """On a grammar whose sentences can be listed: a sum over all of them."""
    rows = torch.stack([TOY.vocabulary.frame_rows(TOY.encode("o gato viu a casa")[None])[0]])
    # The article follows its noun, the noun is one of the masculine or feminine ones, the verb one of two.
    by_hand = [math.log(2), -math.log(0.6), math.log(2), math.log(2), -math.log(0.3)]
    assert exact_pseudo(TOY, rows) == pytest.approx(sum(by_hand) / 5, abs=1e-9)


def test_what_the_model_cannot_read_is_told(masked, tmp_path, capsys):
    path = tmp_path / "estranho.txt"
    path.write_text("O gato dorme. 漢 漢 漢 漢 漢 漢\n" * 3, encoding="utf-8")
    assert main(["avaliar", str(path), "--modelo", str(masked), "--silencioso"]) == 0
    assert "são [UNK]; foi treinado em textos diferentes? O que não conhece não entra na medida." in (
        capsys.readouterr().out
    )
