"""An audit counts the figures of a page and finds them in its outputs, with no ledger and no settings."""

from pathlib import Path

from tests.trust.made_up import code, page, prose
from trust.audit import audit, report, table
from trust.settings import Settings

CELLS = (
    prose("t", "# 1 Means\n\nOf 1,234 rows,\n12.5% have a mean of 0.46."),
    code("c", "print(...)", "1234 rows: 0.4551"),
)


def made_audit(*cells):
    return audit(page(*cells, settings=Settings(Path(), Path("figures.toml"))))


def test_figures_are_counted_and_what_nothing_prints_is_placed():
    found = made_audit(*CELLS)
    assert (found.figures, found.printed, found.notation, found.note) == (3, 2, 1, "")
    (place,) = found.not_printed
    assert str(place) == "cell 1, line 4: 12.5% in “12.5% have a mean of 0.46.”"


def test_a_page_without_outputs_says_so():
    assert made_audit(CELLS[0], code("c", "1")).note == "stores no outputs"


def test_the_report_adds_up_and_keeps_to_its_limit():
    audits = [made_audit(*CELLS), made_audit(prose("t", "1 2 3"))]
    text = report(audits, {"bad.ipynb": "is empty"}, places=2)
    assert ["in", "all", "6", "2", "4", "1"] in [line.split() for line in text.splitlines()]
    assert "and 1 more (--places all)" in text and "  bad.ipynb is empty" in text
    assert text.endswith("2 of 6 figures in the prose are printed by an output of their page.")
    assert "Figures that no output" not in report(audits, {}, places=0)
    assert "0 of 0 figures in the prose" in report([], {}, None)


def test_columns_are_aligned():
    rows = [("x", 1, ""), ("longer", 100, "c")]
    assert table(("a", "bb", ""), rows) == ["a        bb", "x         1", "longer  100  c", "in all  101"]
    assert table(("a", "bb"), []) == ["a  bb"]
