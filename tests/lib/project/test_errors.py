"""`lib.project.errors`, `pieces` and `card`: counted by hand."""

import pytest
import torch

from lib.project.card import write_model_card
from lib.project.errors import FREQUENCIES, by_group, calibration_error, confusions, reliability, thirds
from lib.project.pieces import most_cut, pieces_per_word, unknown, unread
from lib.tokenizer import Tokenizer


def test_each_item_is_in_one_group():
    values, right = [0, 1, 2, 3, 9, 10, 50], [True, False, True, True, True, False, True]
    found = by_group(values, right, FREQUENCIES)
    assert [(g.name, g.share, g.count) for g in found] == [
        ("nunca", 1, 1),
        ("1 ou 2 vezes", 0.5, 2),
        ("3 a 9 vezes", 1, 2),
        ("10 ou mais", 0.5, 2),
    ]
    assert [g.name for g in by_group([0], [True], FREQUENCIES)] == ["nunca"], "an empty group is not shown"


def test_thirds_are_of_about_one_size():
    limits = thirds(range(9), "até {}")
    assert limits == {"até 3": 3, "até 6": 6, "mais de 6": None}
    assert thirds([4] * 9, "até {}") == {"até 4": 4, "mais de 4": None}


def test_the_commonest_mistakes_come_first():
    assert confusions("aabbc", "abaac", 5) == [("b", "a", 2), ("a", "b", 1)]
    assert confusions("ab", "ab", 5) == []


def test_a_model_that_is_as_sure_as_right_is_calibrated():
    bins = reliability(torch.tensor([0.5, 0.5, 1.0, 1.0]), [True, False, True, True], bins=2)
    assert [tuple(b) for b in bins] == [(0.5, 0.5, 2), (1.0, 1.0, 2)]
    assert calibration_error(bins) == 0
    too_sure = reliability(torch.tensor([0.9] * 4), [True, False] * 2, bins=1)
    assert calibration_error(too_sure) == pytest.approx(0.4)


def test_bins_hold_every_answer():
    confidence = torch.rand(103, generator=torch.Generator().manual_seed(0))
    bins = reliability(confidence, [True] * 103)
    assert sum(b.count for b in bins) == 103 and len(bins) == 10
    assert [b.confidence for b in bins] == sorted(b.confidence for b in bins)


def test_pieces_of_words():
    tokenizer = Tokenizer(["gat", "##inho", "o", "corre"])
    assert pieces_per_word(tokenizer, ["o gatinho corre", "O gatinho"]) == (1 + 2 + 1 + 1 + 2) / 5
    assert most_cut(tokenizer, ["o gatinho corre"], 1) == {"gatinho": ["gat", "##inho"]}
    assert unknown(tokenizer, ["o rato corre"]) == (1, 3)
    assert unread(tokenizer, ["o rato, corre"]) == ["rato", ","]


def test_the_card_says_what_it_was_given(tmp_path):
    sections = {"Dados": {"fonte": "atas", "licença": "livre"}, "Na tarefa": {"acerto": "0.80"}}
    path = write_model_card(tmp_path, "BERT de atas", "Estudo.", sections, "Não serve para nada mais.")
    text = path.read_text(encoding="utf-8")
    assert path.name == "README.md" and text.startswith("---\nlanguage: pt\n")
    parts = ("# BERT de atas", "- fonte: atas", "- acerto: 0.80", "## Limites", "Não serve", "pipeline(")
    assert [part for part in parts if part not in text] == []
