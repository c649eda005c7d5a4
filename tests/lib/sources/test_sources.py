"""What the documents print: data, comparison at the printed precision, and the errata made of both."""

import html
import math
import re
from decimal import Decimal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.sources import AGREES, CORRECTED, compare, example, example_ids, judge, recompute
from lib.sources.catalog import DATA, flatten, load_examples
from lib.sources.errata import figures, items, load_statements, overview, statements
from lib.sources.printed import parse, parse_all
from tests.marks import marked
from tests.refusals import refuses

DOCUMENTS = ("01", "02", "03", "04")


# Data


def test_all_eighteen_examples_are_entered():
    counts = {d: sum(id.startswith(f"{d}.") for id in example_ids()) for d in DOCUMENTS}
    assert counts == {"01": 4, "02": 4, "03": 8, "04": 2}
    assert list(example_ids()) == sorted(example_ids())


@pytest.mark.parametrize("id", example_ids())
def test_every_figure_is_recomputed_and_judged(id):
    assert recompute(id).keys() == example(id).figures.keys()
    assert judge(id).verdict in (AGREES, CORRECTED)


def softmax_by_hand(row):
    """Plain Python, so that the verdicts do not rest on lib alone."""
    powers = [0.0 if x == -math.inf else math.exp(x) for x in row]
    return [p / sum(powers) for p in powers]


def test_every_figure_of_the_first_document_has_its_verdict():
    s, root, letters = example("01.1").inputs["pontuacoes"], math.sqrt(2), "ABCD"
    mask = [[0.0 if j <= i else -math.inf for j in range(3)] for i in range(3)]
    masked = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(s, mask, strict=True)]
    scaled = [[x / 2 for x in row] for row in example("01.4").inputs["mascaradas"]]
    weights = [softmax_by_hand(row) for row in scaled]
    third = weights[2][:3]
    by_hand = {
        "01.1": {"originais": s, "mascara": mask, "mascaradas": masked},
        "01.2": {
            "antes": [list(letters)] * 4,
            "depois": [list(letters[: i + 1]) for i in range(4)],
            "relacoes_apagadas": [f"{letters[j]}_{letters[i]}" for j in (3, 2, 1) for i in range(j)],
            "setas_numeradas": [str(k) for k in range(10)],
        },
        "01.3": {"raiz_dk": root, "pesos": [softmax_by_hand([x / root for x in row]) for row in masked]},
        "01.4": {"escaladas": scaled, "pesos": weights, "terceira_linha": third, "soma": sum(third)},
    }
    for id, computed in by_hand.items():
        assert str(compare(id, **computed)) == str(judge(id))
    assert judge("01.3")["raiz_dk"].verdict == AGREES and judge("01.3")["pesos"].verdict == CORRECTED


# Precision


@pytest.mark.parametrize(
    ("printed", "computed", "agrees", "shown"),
    [
        ("0.35", 0.3549, True, "0.35"),
        ("0.35", 0.3551, False, "0.36"),
        ("0.35", 0.345, True, "0.345"),  # a tie: either rounding would be honest, so one more digit is shown
        ("2.68941421e-01", 0.2689414213, True, "2.68941421e-01"),
        ("2.68941421e-01", 0.3302384507, False, "3.30238451e-01"),
        ("0.00000000e+00", 0.0, True, "0.00000000e+00"),
        ("0.00000000e+00", 1e-9, False, "1.00000000e-09"),
        ("-inf", -math.inf, True, "-inf"),
        ("-inf", -1e9, False, "-1e+09"),
        ("4", 4, True, "4"),
        ("4", 4.2, False, "4.2"),
        ("29%", 0.2849, False, "28%"),
        ("29%", 0.2851, True, "29%"),
        ("~117M", 116_534_784, True, "117M"),
        ("~100M", 109_482_240, False, "109M"),
        ("~100 milhões", 109_482_240, False, "109 milhões"),
        ("405B", 405_853_388_800, False, "406B"),
        ("-0.462", -0.3395, False, "-0.340"),
        ("0.05", -0.001, False, "0.00"),
    ],
)
def test_one_number_at_its_printed_precision(printed, computed, agrees, shown):
    number = parse(printed)
    assert number.agrees(computed) is agrees
    assert number.show(computed) == shown


def test_entries_of_one_matrix_share_the_finest_precision():
    zero, fraction = parse_all(["0", "0.577"])
    assert zero.unit == fraction.unit == Decimal("0.001")
    assert not zero.agrees(0.4) and zero.agrees(0.0004)
    (one,) = parse_all(["1."], decimals=8)  # numpy drops zeros that it means
    assert one.agrees(1.0) and not one.agrees(1.3)


@given(st.floats(-1e6, 1e6), st.integers(0, 9))
def test_a_number_agrees_with_its_own_rounding_and_not_with_its_neighbours(x, decimals):
    text = f"{x:.{decimals}f}" + ("" if decimals else ".")
    number = parse(text)
    step = number.unit * Decimal("1.01")  # exact: a float of many digits has no such neighbours
    assert [number.agrees(Decimal(x) + k * step) for k in (-1, 0, 1)] == [False, True, False]


test_what_is_not_a_number_is_refused = refuses(
    *((lambda bad=bad: parse(bad), "text") for bad in ("", "abc", "1.2.3", "nan", "~"))
)


@pytest.mark.parametrize("id", example_ids())
def test_no_agreement_survives_a_changed_digit(id):
    for verdict in judge(id).verdicts:
        if not verdict.figure.numeric or verdict.verdict != AGREES:
            continue
        computed = flatten(_plain(recompute(id)[verdict.figure.name]))
        for k, text in enumerate(flatten(verdict.figure.content)):
            for at in (m.start() for m in re.finditer(r"\d", text)):
                for digit in set("0123456789") - {text[at]}:
                    texts = flatten(verdict.figure.content)
                    texts[k] = text[:at] + digit + text[at + 1 :]
                    changed = parse_all(texts, verdict.figure.decimals)[k]
                    assert changed.value == parse(text).value or not changed.agrees(computed[k])


def _plain(x):
    return x.tolist() if hasattr(x, "tolist") else x


# Comparison


def test_verdicts_and_both_values_are_shown():
    text = str(compare("02.4", cosseno=0.4833, norma_z1=0.8888))
    assert "norma de z1: documento 0.89, calculado 0.89: confere" in text
    assert "similaridade de cosseno: documento 0.35, calculado 0.48: corrigido" in text
    assert text.index("norma de z1") < text.index("cosseno:"), "in the document's order"


def test_a_matrix_marks_the_entries_that_differ():
    good = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    verdict = compare("03.8", escaladas=good / math.sqrt(2))["escaladas"]
    assert verdict.verdict == AGREES and not any(verdict.differs)
    wrong = torch.tensor([[0, 0.707], [0.8, 0]], dtype=torch.float64)
    verdict = compare("03.8", escaladas=wrong)["escaladas"]
    assert verdict.differs == (False, False, True, False) and "0.800*" in str(verdict)
    assert "1 de 4 valores difere" in str(verdict)


def test_a_wrong_shape_in_the_document_is_a_correction_and_in_the_computation_an_error():
    u = recompute("02.2")["logits"]
    assert "4 valores no documento, 5 no cálculo: corrigido" in str(compare("02.2", logits=u))
    with pytest.raises(ValueError, match=r"logits must have shape \(5,\), got \(4,\)"):
        compare("02.2", logits=u[:4])


def test_tokens_are_compared_exactly():
    assert compare("03.2", causal=["o", "gato"]).verdict == AGREES
    assert compare("03.2", causal=["o", "Gato"])["causal"].differs == (False, True)
    assert compare("03.2", causal=["o"])["causal"].differs is None


test_bad_input_is_named = refuses(
    (lambda: compare("09.9", pesos=1), "id must be one of 01.1, .* got '09.9'"),
    (lambda: compare(None, pesos=1), "id must be one of .* got None"),
    (lambda: compare("01.3", peso=1), r"01.3 prints no figure \['peso'\]; expected .*pesos"),
    (lambda: compare("01.3"), "nothing to compare"),
    (lambda: compare("01.3", pesos=torch.zeros(2, 3).double()), r"shape \(3, 3\), got \(2, 3\)"),
    (lambda: compare("01.3", pesos=torch.zeros(3, 3)), "9 significant digits and float32 carries 6"),
    (lambda: compare("01.3", raiz_dk=math.nan), "raiz_dk: a computed value is NaN"),
    (lambda: compare("01.3", pesos=[[1], [1, 2], [3]]), "pesos: rows of different shapes"),
    (lambda: figures("05"), "with numerical examples, got '05'"),
    (lambda: items("07"), "got '07'"),
)
test_input_of_another_type_is_named = refuses(
    (lambda: compare("01.3", raiz_dk="1.414"), "raiz_dk must hold numbers, got '1.414'"),
    (lambda: compare("01.3", raiz_dk=True), "raiz_dk must hold numbers, got True"),
    (lambda: compare("01.3", raiz_dk=1j), "raiz_dk must hold numbers"),
    (lambda: compare("03.2", causal="o gato"), "causal must be a list of strings"),
    (lambda: compare("03.2", causal=[1, 2]), "causal must be a list of strings"),
    error=TypeError,
)


def test_float32_is_enough_where_the_document_prints_few_digits():
    assert compare("02.4", cosseno=torch.tensor(0.4833))["cosseno"].computed == "0.48"


# Loading


EXAMPLES, STATEMENTS = (load_examples, "01_masking.toml"), (load_statements, "statements_01.toml")


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        (EXAMPLES, (r'printed = "1\.414"', 'printed = "1.4l4"'), "is not a number"),
        (EXAMPLES, (r'printed = "1\.414"', 'printed = "1.414", tokens = ["a"]'), "either printed or tokens"),
        (EXAMPLES, (r'printed = "1\.414"', 'printed = "1.414", precision = 3'), "unknown keys"),
        (EXAMPLES, (r'\["01\.4"\]', '["01.3"]'), "twice"),
        (EXAMPLES, ("raiz_dk = ", "pesos = "), "pesos"),
        (EXAMPLES, (r'\["01\.1', '["02.1'), "02.1 is not of document 01"),
        (EXAMPLES, (r'\[\["1", "2", "3"\],', '[["1", "2"],'), "rows of different shapes"),
        (STATEMENTS, (r"^\[s1\..*", '[s1."outro"]'), "kind must be one of"),
        (STATEMENTS, (r"^\[s2\.", "[s1."), "twice"),
        (STATEMENTS, (r"^\[s7\.", "[s1."), "kind must be one of"),
        (STATEMENTS, (r'right = "[^"]+"', 'right = ""'), "must have exactly"),
        (STATEMENTS, (r'where = "[^"]+"\n', ""), "must have exactly"),
    ],
)
def test_malformed_data_does_not_load(tmp_path, kind, change, message):
    load, name = kind
    text = (DATA / name).read_text(encoding="utf-8")
    changed, times = re.subn(*change, text, flags=re.MULTILINE)
    assert times
    (tmp_path / name).write_text(changed, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load(tmp_path)


# Errata


def seen(view):
    """The words that a page shows of a view."""
    return html.unescape(re.sub(r"<[^>]+>", "", view.html))


def test_the_folds_show_every_figure_and_its_inputs():
    for document in DOCUMENTS:
        view, words = figures(document), seen(figures(document))
        for id in (id for id in example_ids() if id.startswith(document)):
            assert f"Exemplo {id}, {example(id).title}: {judge(id).verdict}" in words
            for verdict in judge(id).verdicts:
                head, *rows = verdict.lines()
                assert "\n".join([head, *rows]) in view.text
                assert head.strip() in words and "\n".join(row[4:] for row in rows) in words
            for name, value in example(id).inputs.items():
                assert f"{name} = {value}" in view.text and f"{name} = {value}" in words


def test_the_table_has_a_row_for_each_example_and_statement():
    for document in load_statements():
        view, stated = items(document), {s.id: s for s in statements(document)}
        rows = dict(re.findall(r'<tr id="errata-([\w-]+)">(.*?)</tr>', view.html, re.DOTALL))
        judged = [id for id in example_ids() if id.startswith(f"{document}.")]
        assert [name.replace("-", ".") for name in rows] == [*judged, *stated]
        for id in judged:
            assert f"<strong>{judge(id).verdict}</strong>" in rows[id.replace(".", "-")]
        for id, s in stated.items():
            row = html.unescape(rows[id.replace(".", "-")])
            assert all(part in row and part in view.text for part in (s.where, s.says, s.why, s.right))


def test_a_row_shows_what_differs_and_nothing_that_agrees():
    rows = dict(re.findall(r'<tr id="errata-([\w-]+)">(.*?)</tr>', items("02").html, re.DOTALL))
    printed, right = re.findall(r"<td[^>]*>(.*?)</td>", rows["02-4"])
    assert printed.endswith("0.35") and right == "0.54<br>1.58<br>1.26<br>0.48" and "0.79" not in printed
    assert re.findall(r"<td[^>]*>(.*?)</td>", rows["02-1"]) == ["3 de 3 valores", "confere"]


def test_the_overview_counts_what_the_tables_show():
    for line, document in zip(overview().text.splitlines(), load_statements(), strict=True):
        judged = [judge(id) for id in example_ids() if id.startswith(document)]
        verdicts = [v.verdict for c in judged for v in c.verdicts]
        agreeing = [c for c in judged if c.verdict == AGREES]
        counts = [len(judged), len(agreeing), len(verdicts), verdicts.count(AGREES)]
        assert re.findall(r"\d+", line) == [document, *map(str, [*counts, len(statements(document))])]


def test_every_corrected_statement_is_guarded_by_a_test():
    stated = {statement.id for entries in load_statements().values() for statement in entries}
    assert {word for word, *_ in marked("guards")} == stated


def test_the_errata_quotes_the_documents_only_briefly():
    for entries in load_statements().values():
        for statement in entries:
            for quote in re.findall(r"“([^”]*)”", statement.says):
                assert len(quote.split()) <= 8, f"{statement.id} quotes {quote!r}"
