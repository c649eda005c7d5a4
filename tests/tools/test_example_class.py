"""The made-up class: the same at every call, in part right, and graded as any other."""

import csv
import io

from lib.exercises.__main__ import main as exercises
from tests.lib.exercises.notebooks import needs_bwrap
from tools.example_class import main


@needs_bwrap
def test_a_made_up_class_is_the_same_at_every_call_and_has_all_kinds_of_answers(tmp_path, capsys):
    for name in ("one", "other"):
        main([str(tmp_path / name), "--students=4", "--chapters", "1", "2"])
    files = [
        sorted(p.relative_to(tmp_path / n) for p in (tmp_path / n).rglob("*.ipynb")) for n in ("one", "other")
    ]
    assert files[0] == files[1] and len(files[0]) == 8
    for path in files[0]:
        one, other = ((tmp_path / n / path).read_text(encoding="utf-8") for n in ("one", "other"))
        assert _without_ids(one) == _without_ids(other)
    assert exercises(["grade", str(tmp_path / "one")]) == 0
    text = (tmp_path / "one" / "correcao" / "notas.csv").read_text(encoding="utf-8-sig")
    totals = [float(row["Total"]) for row in csv.DictReader(io.StringIO(text), delimiter=";")]
    assert len(totals) == 4 and min(totals) > 0 and max(totals) < 13 and len(set(totals)) > 1


def _without_ids(text):
    return [line for line in text.splitlines() if '"id"' not in line]
