"""The tables of results say what was measured, with the code, data and versions of today.

If a report is stale, the message says which command measures it again; `python -m benchmarks.report` makes
Markdown and charts again without measuring.
"""

import contextlib
import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace

import pytest

from benchmarks import program
from benchmarks import report as reporting
from benchmarks.figures import bar_chart
from benchmarks.report import Report, reports
from tests.trust.measured import TREE, measured_candidates
from tests.trust.pages import ROOT
from trust import provenance, tamper
from trust.plugin import tampered
from trust.provenance import Part

REPORTS = {report.name: report for report in reports()}
# Programs to run quickly. Scaling would start ten processes; its one process is tried among the other tests.
OPTIONS = {
    "benchmarks.__main__": ["--threads", "1"],
    "benchmarks.floor": ["--threads", "1", "--seeds", "2"],
    "benchmarks.porttinari": ["--threads", "1", "--seeds", "2"],
    "benchmarks.frames": ["--times", "2"],
    "benchmarks.lighthouse": ["--pages", "404.html"],
}
# Tables whose code has changed since: each is to be measured anew, on a quiet machine, and leaves this list.
UNMEASURED = {"portability", "lighthouse"}
SKIPPED = {name: [pytest.mark.skip(f"not measured yet: run {REPORTS[name].command}")] for name in UNMEASURED}
every_report = pytest.mark.parametrize(
    "report", [pytest.param(report, id=name, marks=SKIPPED.get(name, [])) for name, report in REPORTS.items()]
)


@every_report
def test_what_is_reported_was_measured_with_what_is_there_now(report):
    problems = report.problems(report.texts(), TREE)
    assert not problems, "\n".join(problems)


@every_report
def test_a_changed_digit_is_noticed(report, request):
    tampered(list(measured_candidates(report)), "measured files", request.node)


def test_every_program_has_a_report():
    """A module with a REPORT that is not listed would be checked by nobody."""
    folder = ROOT / "benchmarks"
    holding = {p.stem for p in folder.glob("*.py") if "\nREPORT = " in p.read_text(encoding="utf-8")}
    assert holding == set(reporting.PROGRAMS)
    stored = {path.stem for path in folder.glob("*.json")} | {p.stem.lower() for p in folder.glob("*.md")}
    assert stored <= REPORTS.keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [[*OPTIONS][:-2], pytest.param([*OPTIONS][-2:], marks=[pytest.mark.browser, pytest.mark.book])],
    ids=" ".join,
)
def test_quick_runs_use_nothing_that_the_hash_leaves_out(names, tmp_path):
    """Every function that is called and every file that is opened is in the hash; and nothing is written."""
    reports, told = [sys.modules[name].REPORT for name in names], tmp_path / "told.json"
    before = [report.texts() for report in reports]
    programs = json.dumps({name: OPTIONS[name] for name in names})
    command = [sys.executable, "-m", "tests.trust.measured", str(told), programs]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    for part in (part for report in reports for part in report.parts):
        assert f"==> Measuring {part.name}\n" in run.stdout
        did = json.loads(told.read_text(encoding="utf-8"))[part.name]
        assert part.starts[0] in did["used"], "nothing was traced"
        assert not did["left out"], part.name
    assert [report.texts() for report in reports] == before


# A made-up report


def measure(options: Namespace) -> dict:
    return {"seconds": [1 / 3, 2.5]}


def made_up(folder, first=measure, second=measure) -> Report:
    def part(name: str, measure: Callable) -> Part:
        def show(values: dict) -> str:
            return f"## {name}\n\nIt took {sum(values['seconds']):.3f} s.\n"

        return Part(name, f"python -m toy --only {name}", measure, show, ("trust.provenance:processor",))

    parts = (part("first", first), part("second", second))
    return Report("toy", "python -m toy", parts, "A preface.\n", chart=bars, folder=folder)


def bars(values: dict) -> str:
    return bar_chart({name: sum(of_part["seconds"]) for name, of_part in values.items()}, "seconds")


def run(report: Report, *arguments: str) -> None:
    program.run(report, program.parser(report, "A toy.").parse_args(arguments))


@pytest.fixture
def toy(tmp_path) -> Report:
    report = made_up(tmp_path)
    run(report)
    return report


def test_a_run_leaves_all_that_a_reader_needs(toy):
    texts = toy.texts()
    assert texts.keys() == {"toy.json", "TOY.md", "TOY.svg"}
    assert toy.problems(texts, TREE) == []
    content = provenance.read(texts["toy.json"])
    assert content["first"]["values"] == {"seconds": [1 / 3, 2.5]}
    markdown = texts["TOY.md"]
    assert markdown.startswith("# Results of `python -m toy`\n\nA preface.\n\n## first\n\nIt took 2.833 s.\n")
    assert markdown.count("Measured with `python -m toy --only ") == 2
    assert content["first"]["made"]["settings"].keys() == {"instructions"}


def test_every_digit_of_a_report_is_guarded(toy):
    candidates = list(measured_candidates(toy))
    assert {candidate.place for candidate in candidates} == {f"benchmarks/{name}" for name in toy.texts()}
    assert tamper.attempt(candidates, seed=0, sample=None) == (len(candidates), [])


def test_a_report_that_already_fails_is_not_tampered_with(toy):
    (toy.folder / "TOY.md").write_text("other", encoding="utf-8")
    told = r"TOY\.md is not what toy\.json gives; run: python -m benchmarks\.report"
    with pytest.raises(ValueError, match=told):
        list(measured_candidates(toy))


@pytest.mark.parametrize("name", ["toy.json", "TOY.md", "TOY.svg"])
def test_a_file_that_is_gone_is_missed(name, toy):
    (toy.folder / name).unlink()
    assert toy.problems(toy.texts(), TREE)


def interrupted(options: Namespace):
    raise KeyboardInterrupt


def test_a_damaged_file_stops_the_program_before_it_measures(toy):
    toy.json.write_text(toy.json.read_text(encoding="utf-8").replace("2.5", "3.5"), encoding="utf-8")
    told = r"error: toy\.json: the numbers of 'first' are not those"
    with pytest.raises((SystemExit, KeyboardInterrupt), match=told):
        run(made_up(toy.folder, first=interrupted, second=interrupted))
    [problem] = toy.problems(toy.texts(), TREE)
    assert problem.endswith("put it back, or delete it and run: python -m toy")


@pytest.mark.parametrize("arguments", [["--only", "first"], []])
def test_a_part_is_kept_at_once_and_what_is_not_measured_stays(arguments, toy):
    before = toy.content()
    report = made_up(toy.folder, first=lambda options: {"seconds": [7.0]}, second=interrupted)
    with contextlib.nullcontext() if arguments else pytest.raises(KeyboardInterrupt):
        run(report, *arguments)
    after = toy.content()
    assert after["first"]["values"] == {"seconds": [7.0]} and after["second"] == before["second"]
    assert "It took 7.000 s." in toy.texts()["TOY.md"]
    assert toy.problems(toy.texts(), TREE) == []


def test_a_part_alone_is_shown_alone(tmp_path):
    report = made_up(tmp_path)
    run(report, "--only", "second")
    assert "## second" in report.texts()["TOY.md"] and "## first" not in report.texts()["TOY.md"]
    [problem] = report.problems(report.texts(), TREE)
    assert problem == "toy.json, first: missing; on a quiet machine, run: python -m toy --only first"


def test_an_old_part_that_cannot_be_shown_does_not_stop_the_measurement(toy):
    """The code that shows values has changed with them: the file is stale, and a whole run mends it."""
    new = {"first": lambda options: {"seconds": [7.0], "more": 1}, "second": lambda options: {"more": 2}}
    report = made_up(toy.folder, **new)
    parts = tuple(replace(part, show=lambda values: f"{values['more']}\n") for part in report.parts)
    report = replace(report, parts=parts, chart=None)
    run(report)
    assert report.problems(report.texts(), TREE) == []


@pytest.mark.parametrize(("load", "busy"), [(1.1, True), (0.9, False)])
def test_a_quick_run_writes_nothing_and_mentions_a_busy_machine(load, busy, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(provenance, "load_average", lambda: load)
    monkeypatch.setattr(program.os, "cpu_count", lambda: 2)
    run(made_up(tmp_path), "--quick")
    said = capsys.readouterr().out
    assert "It took 2.833 s." in said and ("==> The machine is busy" in said) == busy
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [*OPTIONS, "benchmarks.scaling"])
@pytest.mark.parametrize("wrong", ["--only nothing", "--threads 0", "--seeds x", "--times 1"])
def test_a_wrong_option_is_an_error_of_the_command_line(name, wrong, capsys):
    with pytest.raises(SystemExit) as ended:
        sys.modules[name].parse(wrong.split())
    assert ended.value.code == 2 and capsys.readouterr().err.startswith("usage: python -m benchmarks")


def test_too_few_rounds_are_refused(capsys):
    with pytest.raises(SystemExit):
        sys.modules["benchmarks.__main__"].parse(["--rounds", "5"])
    assert "--rounds must be at least 6" in capsys.readouterr().err


def test_everything_is_made_again_without_measuring(toy, tmp_path, monkeypatch, capsys):
    before = toy.texts()
    for name in toy.shown:
        (tmp_path / name).write_text("changed", encoding="utf-8")
    empty = replace(toy, name="nothing")
    monkeypatch.setattr(reporting, "reports", lambda: [toy, empty])
    reporting.main()
    assert toy.texts() == before and not empty.texts()
    assert capsys.readouterr().out == (
        "==> toy.json: made TOY.md and TOY.svg\n==> nothing.json: nothing is measured yet\n"
    )
    toy.json.write_text("[]\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"error: toy\.json: it is not a file of measurements"):
        reporting.main()


def test_a_chart_is_the_same_every_time():
    chart = bar_chart({"a < b": 2.0, "c": 0.5}, "times")
    assert chart == bar_chart({"a < b": 2.0, "c": 0.5}, "times")
    assert "a &lt; b" in chart and 'width="400.0"' in chart and 'width="100.0"' in chart
    assert bar_chart({}, "nothing").startswith("<svg")
