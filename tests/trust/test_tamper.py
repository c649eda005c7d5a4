"""The chain of trust holds on the real book: a changed digit, anywhere, makes a check fail.

Set TAMPER_SEED to repeat a run; each run prints its own seed.
"""

import copy
import json
import os
import random
import re
import secrets
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from tests.trust import fresh, tamper
from tests.trust.made_up import code, notebook, page, prose
from tests.trust.pages import ROOT, notebooks, tags
from tests.trust.tags import IGNORE

SEED = int(os.environ.get("TAMPER_SEED", secrets.randbelow(10**9)))
SAMPLE = 150
# Where pytest itself is seen to fail. Notebooks that train models would only take longer to show the same;
# the digits of all of them are tried in `test_a_sample_of_tampered_digits_is_caught`.
QUICK = ("01_masking", "defects", "errata")


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.name)
def test_what_nbval_does_not_see_is_what_the_code_gives(path):
    stored, made = json.loads(path.read_text(encoding="utf-8")), fresh.executed(path)
    found = fresh.widget_problems(stored, made) + fresh.ignored_text_problems(stored, made)
    assert not found, "\n".join(found)


def test_a_sample_of_tampered_digits_is_caught(record_property):
    lines, missed = tamper.attempt(tamper.candidates(), SEED, SAMPLE)
    record_property("summary", lines[-1])
    print("\n".join(lines))
    assert not missed, f"TAMPER_SEED={SEED}, not caught:\n" + "\n".join(map(str, missed))


def change_one_digit(cell: dict, rng: random.Random) -> bool:
    """Changes one digit of a cell's stored text, in place; False where there is none."""
    places = [
        (output if holder == "" else output["data"], key)
        for output in cell["outputs"]
        for holder, key in tamper._text_places(output)
    ]
    places = [(holder, key) for holder, key in places if re.search(r"\d", "".join(holder[key]))]
    if not places:
        return False
    holder, key = rng.choice(places)
    text = "".join(holder[key])
    at = rng.choice([m.start() for m in re.finditer(r"[0-9]", text)])
    holder[key] = text[:at] + str((int(text[at]) + rng.randint(1, 9)) % 10) + text[at + 1 :]
    return True


def failing_cells(folder) -> set[tuple[str, int]]:
    """The cells that fail in a real run of pytest --nbval, as (notebook, number of code cell)."""
    report = folder / "report.xml"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "--nbval-current-env",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [*command, f"--junitxml={report}", "."], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert report.exists(), done.stdout + done.stderr
    cases = ElementTree.parse(report).iter("testcase")
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return {
        (
            re.search(r"[\w-]+(?=\.ipynb|$)", case.get("classname").replace(".ipynb", ""))[0],
            int(case.get("name").split()[-1]),
        )
        for case in failed
    }


def test_pytest_nbval_fails_on_exactly_the_tampered_cells(tmp_path):
    rng, tampered = random.Random(SEED), set()
    for path in (path for path in notebooks() if path.stem in QUICK):
        made = json.loads(path.read_text(encoding="utf-8"))
        cells = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
        for number, cell in enumerate(cells):
            if IGNORE not in tags(cell) and rng.random() < 0.7 and change_one_digit(cell, rng):
                tampered.add((path.stem, number))
        (tmp_path / path.name).write_text(json.dumps(made), encoding="utf-8")
    assert {stem for stem, _ in tampered} == set(QUICK), "each must have been tampered with"
    assert failing_cells(tmp_path) == tampered, f"TAMPER_SEED={SEED}"


# The checks on made-up notebooks


def test_nbval_comparison_sees_text_and_not_pictures():
    old = code("f", "plot()", "soma 1", picture=True)
    new = copy.deepcopy(old)
    assert fresh.nbval_accepts(old, new)
    new["outputs"][1]["data"]["image/png"] = "outra"
    assert fresh.nbval_accepts(old, new)
    new["outputs"][0]["text"] = "soma 2"
    assert not fresh.nbval_accepts(old, new)


def test_how_a_stream_is_cut_does_not_matter():
    old, new = code("f", "print()", "soma 1\nfim"), code("f", "print()", "soma ")
    new["outputs"].append({"output_type": "stream", "name": "stdout", "text": ["1\n", "fim"]})
    assert fresh.nbval_accepts(old, new) and fresh.nbval_accepts(new, old)
    new["outputs"][1]["text"][0] = "2\n"
    assert not fresh.nbval_accepts(old, new)


def test_text_of_an_ignored_cell_must_be_what_the_code_gives():
    old = notebook(code("f", "plot()", tags=(IGNORE,), picture=True))
    new = copy.deepcopy(old)
    assert fresh.ignored_text_problems(old, new) == []
    new["cells"][0]["outputs"][0]["data"]["text/plain"] = "<Figure size 640x480 with 2 Axes>"
    assert len(fresh.ignored_text_problems(old, new)) == 1


def widget_notebook(value, printed=None):
    state = {"scores": value, "_model_name": "AnyModel"}
    printed = printed or fresh.fingerprint(state)
    made = notebook(code("w", "w", f"Widget(dados sha256={printed})"))
    made["metadata"]["widgets"] = {fresh.WIDGET_STATE: {"state": {"1": {"state": state}}}}
    return made


def test_widget_state_must_be_what_the_code_gives():
    stored = widget_notebook([1, 2])
    assert fresh.widget_problems(stored, copy.deepcopy(stored)) == []
    assert "not what the code gives" in fresh.widget_problems(stored, widget_notebook([1, 3]))[0]
    assert "fingerprint" in fresh.widget_problems(widget_notebook([1, 2], "0" * 16), stored)[-1]


def test_a_digit_that_nobody_checks_is_reported():
    blind = tamper.Candidate("somewhere", "soma 1", 5, lambda text: False)
    lines, missed = tamper.attempt({"outputs": [blind]}, seed=1, sample=None)
    assert missed == [blind] and lines[-1] == "0 of 1 tampered numbers caught (seed 1)"
    assert "somewhere, digit '1' at 5" in str(blind)


def test_tampering_always_changes_the_digit():
    candidate = tamper.Candidate("somewhere", "soma 1", 5, lambda text: text != "soma 1")
    assert all(candidate.caught(random.Random(seed)) for seed in range(50))


def test_prose_candidates_cover_prose_and_ledger():
    made = page(
        code("soma", "print(1)", "0.45 4"), prose("t", "É 0,45 em $x_1$.", "0,45 @ soma", notation="1")
    )
    found = list(tamper.prose_candidates(made))
    assert len(found) == 3 + 1 + 3 + 1
    assert all(c.caught(random.Random(seed)) for c in found for seed in range(20))


def test_a_book_that_already_fails_is_not_tampered_with():
    stale = notebook(code("c", "print(1)", "1"))
    with pytest.raises(ValueError, match="run make notebooks"):
        list(tamper.output_candidates(ROOT / "x.ipynb", stale, notebook(code("c", "print(1)", "2"))))
    with pytest.raises(ValueError, match="prose check already fails"):
        list(tamper.prose_candidates(page(prose("t", "São 4."))))
    with pytest.raises(ValueError, match="errata"):
        list(tamper.source_candidates("nothing"))
