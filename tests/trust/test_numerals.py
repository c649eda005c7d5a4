"""The rule that tells values from notation in text, case by case and language by language."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trust import markdown
from trust.conventions import Convention, detected
from trust.languages import LANGUAGES
from trust.ledger import written
from trust.numerals import around, numerals
from trust.readings import Reading

FENCE = "```"
PORTUGUESE, ENGLISH = Convention(",", "pt", frozenset({"mermaid"})), Convention(".", "en")


def found(text: str, convention: Convention) -> tuple[list[str], list[str]]:
    """The values and the notation of a text."""
    everything = numerals(text, convention)
    assert all(re.search(r"\d", text[n.start : n.end]) for n in everything)
    return [written(n) for n in everything if not n.notation], [written(n) for n in everything if n.notation]


@pytest.mark.parametrize(
    ("markdown", "values", "notation"),
    [
        ("A perda cai de 2,079 para 0,2.", ["2,079", "0,2"], []),
        ("A perda é 0.45, ou −0,45.", ["0.45", "−0,45"], []),
        (r"A perda é $-0{,}45$.", ["-0,45"], []),
        ("São 45% dos 109.482.240 parâmetros, ou 109 milhões.", ["45%", "109.482.240", "109 milhões"], []),
        (r"Cerca de $45\%$ e $109\,482\,240$ ou $1{.}024$.", ["45%", "109482240", "1.024"], []),
        ("1. um\n2. dois\n\n## 3.1 Três\n\n(1) a; (2) b", [], ["1", "2", "3.1", "1", "2"]),
        ("mas (7) não enumera nada", ["7"], []),
        (
            "GPT-1, float32 e BERT2; capítulo 10, seções 2 e 3; a 3ª linha",
            [],
            ["1", "32", "2", "10", "2", "3", "3"],
        ),
        ("Taylor 1953 (e também 2017, adiante); mas 2048 tokens", ["2048"], ["1953", "2017"]),
        ("versão 2.13.0, em 3 de março de 2020", [], ["2.13.0", "3", "2020"]),
        ("código `x = 3`, número `0.5`, role {eq}`eq-3`, [texto 4](alvo-5.html), nota[^6]", ["0.5", "4"], []),
        (
            f"{FENCE}python\nx = 3\n{FENCE}\n\n{FENCE}{{note}} Título 4\n:class: c5\nseis 6\n{FENCE}",
            ["4", "6"],
            [],
        ),
        (f"{FENCE}{{mermaid}}\nA1 --> B[soma 5]\n{FENCE}", ["5"], ["1"]),
        ("A proporção 80/10/10, com [1, 2,5]", ["80", "10", "10", "1", "2,5"], []),
    ],
)
def test_a_page_with_a_decimal_comma(markdown, values, notation):
    assert found(markdown, PORTUGUESE) == (values, notation)


@pytest.mark.parametrize(
    ("markdown", "values", "notation"),
    [
        ("The loss falls from 2.079 to 0.2.", ["2.079", "0.2"], []),
        ("Of 1,234,567 rows, 12.5% stay: about 1.2 million.", ["1,234,567", "12.5%", "1.2 million"], []),
        ("points (3,4) and [0,1]", ["3", "4", "0", "1"], []),
        ("see [1] and x[2]; 10<sup>2</sup>\n\n**1.** first", ["10"], ["1", "2", "2", "1"]),
        (
            "Section 2.3, Figs. 4 and 5, Eq. (6), p. 7, the 2nd of 3D",
            [],
            ["2.3", "4", "5", "6", "7", "2", "3"],
        ),
        ("# 2 Second\n\n## Week 3: more", [], ["2", "3"]),
        (
            "On March 3, 2020 and 2020-03-04, since 1812, 1914-1918",
            [],
            ["3", "2020", "2020", "03", "04", "1812", "1914", "1918"],
        ),
        (
            "in 2000 steps, between 1500 and 2000, a size of 2048 (1536), at 30°",
            ["2000", "1500", "2000", "2048", "1536", "30"],
            [],
        ),
        ("from 1600 to 1914, in Boston 1999 (and 2001)", [], ["1600", "1914", "1999", "2001"]),
        ("arXiv:1810.04805, doi:10.1000/182, https://a.org/2020/1", ["182"], ["1810.04805", "10.1000"]),
        ("**45**% of *3*.5 and 2*3", ["45%", "3.5", "2", "3"], []),
        ("| a | b |\n|---|---|\n| 1 | 1\\|2 |\n| 0.5 | 1 |", ["1", "1", "2", "0.5", "1"], []),
        ("共有3个样本", ["3"], []),
        ("issue #17, colour #7f4707, © 2019", [], ["17", "2019"]),
    ],
)
def test_a_page_with_a_decimal_point(markdown, values, notation):
    assert found(markdown, ENGLISH) == (values, notation)


@pytest.mark.parametrize(
    ("language", "markdown", "values", "notation"),
    [
        (
            "es",
            "La sección 3: de 10 000 casos, el 2,5 %; 3 millones en 1999.",
            "10 000|2,5 %|3 millones",
            "3 1999",
        ),
        (
            "fr",
            "Au chapitre 2, le 1er mai 2020 : 12 500,75 et 3 milliards.",
            "12 500,75|3 milliards",
            "2 1 2020",
        ),
        ("de", "Abschnitt 4, am 3. Mai 2020: 1.234,5 und 2 Millionen.", "1.234,5|2 Millionen", "4 3 2020"),
    ],
)
def test_other_languages(language, markdown, values, notation):
    convention = Convention(LANGUAGES[language].decimal, language)
    assert found(markdown, convention) == (values.split("|"), notation.split())


def spelled(number: Decimal, decimal: str, group: str) -> str:
    whole, _, fraction = f"{abs(number):,f}".partition(".")
    sign = "−" if number < 0 else ""
    return sign + whole.replace(",", group) + (decimal + fraction if fraction else "")


@given(
    st.integers(-(10**9), 10**9),
    st.integers(0, 6),
    st.sampled_from(",."),
    st.sampled_from(["", "\u202f", "other"]),
)
def test_a_number_is_found_with_its_value_and_its_precision(n, places, decimal, group):
    number = Decimal(n).scaleb(-places)
    group = ("." if decimal == "," else ",") if group == "other" else group
    text = f"The sum of **{spelled(number, decimal, group)}** holds."
    (numeral,) = numerals(text, Convention(decimal, "en"))
    unit = Decimal(1).scaleb(-places) if places else Decimal(0)
    assert Reading(number, unit) in numeral.readings and not numeral.notation
    assert text[numeral.start : numeral.end].strip("*") == spelled(number, decimal, group)


@given(
    st.text(alphabet="abç 0123456789.,$_^{}=+-\\`#()[]<>*|\n%", max_size=60),
    st.sampled_from([PORTUGUESE, ENGLISH]),
)
def test_no_digit_that_a_reader_sees_is_left_out(page, convention):
    text = markdown.view(page).text()
    visible = {at for char, at in zip(text.chars, text.at, strict=True) if char in "0123456789"}
    covered = {i for n in numerals(page, convention) for i in range(n.start, n.end)}
    assert visible <= covered


@given(st.text(max_size=200))
def test_any_text_can_be_read(page):
    numerals(page, detected([page]))


@pytest.mark.parametrize(
    ("page", "language", "decimal"),
    [
        ("A perda é de 0,45 e o acerto de 0,9, com 1.5 de folga.", "pt", ","),
        ("A perda é de 0.45, e o acerto de 0.9.", "pt", "."),
        ("The loss is 0.45 on 1,234 rows.", "en", "."),
        ("La perte est de $0{,}45$ pour les données.", "fr", ","),
        ("Sin números, el texto es de la lengua.", "es", ","),
        ("Exemplo 1.1, seção 2.3: o preço é de 100.000,00, e $y = 70.000$.", "pt", ","),
        ("数据 0.5", "en", "."),
        ("", "en", "."),
    ],
)
def test_a_page_shows_its_convention(page, language, decimal):
    assert detected([page]) == Convention(decimal, language)


def test_the_words_around_a_numeral_stay_on_its_line():
    page = "Other line 1.\n" + "word " * 30 + "42 " + "word " * 30 + "\nlast"
    numeral = numerals(page, ENGLISH)[1]
    shown = around(page, numeral)
    assert "42" in shown and len(shown) < 110 and "last" not in shown and "Other" not in shown
