"""The museum of defects: every exhibit is caught by the checks that say so (`@pytest.mark.catches`).

A defect takes the place of what it imitates, in `lib` and in the check's own module, and the check must fail
on it; with the course's own code in place it passes, or its own test would fail.
"""

import inspect
import json
import pkgutil
import re
from collections.abc import Callable

import pytest
import torch
from hypothesis import Phase, settings

from lib.corruption import BERT_CHANNEL
from lib.experiments.defects import CATALOGUE, Defect
from lib.training import GrammarSource, evaluate, hold_out
from lib.training.loop import HeldOut
from tests.marks import checks_marked
from tests.toy import TOY, toy_objective
from tests.trust.pages import BOOK

# Values for the parameters of a test that pytest would call once for each.
ARGUMENTS = {"channel": BERT_CHANNEL}
SETTINGS = "_hypothesis_internal_use_settings"  # where Hypothesis keeps those of a test


@pytest.mark.catches("média de médias")
def test_every_prediction_weighs_the_same_in_an_evaluation():
    objective, source = toy_objective("mlm"), GrammarSource(TOY, 12, 0)
    many, few = hold_out(objective, source, 2).batches
    few = type(few)(*(None if x is None else x[:2] for x in few))
    with torch.no_grad():
        lost = objective.eval()(many).double() + objective(few).double()
    expected = lost / (objective.counts(many) + objective.counts(few))
    assert evaluate(objective, HeldOut([many, few]))["mlm"] == pytest.approx(expected.item(), abs=1e-9)


CATCHERS = checks_marked("catches")


def home(defect: Defect) -> tuple[object, str]:
    """The module, or the class, of what the defect imitates, and its name there."""
    owner, name = defect.imitates.rsplit(".", 1)
    return pkgutil.resolve_name(owner), name


def install(defect: Defect, check: Callable, monkeypatch) -> None:
    """Put the defect where what it imitates stands; a first example on which the check fails is enough."""
    owner, name = home(defect)
    monkeypatch.setattr(owner, name, defect.broken)
    if inspect.ismodule(owner):
        monkeypatch.setattr(inspect.getmodule(check), name, defect.broken, raising=False)
    first_one = settings(getattr(check, SETTINGS, None), phases=(Phase.explicit, Phase.generate))
    monkeypatch.setattr(check, SETTINGS, first_one, raising=False)


def test_every_defect_is_caught_by_some_check():
    assert CATCHERS.keys() == CATALOGUE.keys()


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_check_catches_the_defect(name, monkeypatch):
    for check in CATCHERS[name]:
        install(CATALOGUE[name], check, monkeypatch)
        with pytest.raises(AssertionError):
            check(**{name: ARGUMENTS[name] for name in inspect.signature(check).parameters})


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_defect_can_be_called_like_what_it_imitates(name):
    """The names of its arguments are those of the original, so that nothing but the mistake differs."""
    defect = CATALOGUE[name]
    original = inspect.signature(inspect.unwrap(getattr(*home(defect)))).parameters
    required = [p.name for p in original.values() if p.default is p.empty]
    broken = inspect.signature(inspect.unwrap(defect.broken)).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD or p.kind is p.VAR_POSITIONAL for p in broken.values())
    assert takes_any or set(required) <= set(broken)


def test_at_least_ten_defects_each_with_its_public_source():
    assert len(CATALOGUE) >= 10
    place = r"[\w.-]+/[\w.-]+, (issues?|pull request) \d+(?: e \d+)?(?: \(.+\))?"
    assert [d.found for d in CATALOGUE.values() if not re.fullmatch(place, d.found)] == []


def test_the_museum_shows_every_defect():
    cells = json.loads((BOOK / "defects.ipynb").read_text(encoding="utf-8"))["cells"]
    printed = "".join(
        line for cell in cells for output in cell.get("outputs", []) for line in output.get("text", [])
    )
    assert [name for name, defect in CATALOGUE.items() if defect.found not in printed] == []
