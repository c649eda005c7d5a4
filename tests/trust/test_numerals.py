"""The rule that tells values from notation in text, case by case and language by language."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trust import markdown
from trust.conventions import Convention, detected
from trust.languages import LANGUAGES
from trust.ledger import plain_text
from trust.numerals import around, numerals
from trust.readings import Reading

FENCE = "```"
CONVENTIONS = {code: Convention(row.decimal, code, frozenset({"mermaid"})) for code, row in LANGUAGES.items()}


@pytest.mark.parametrize(
    ("language", "text", "values", "notation"),
    [
        ("pt", "A perda cai de 2,079 para 0,2.", "2,079|0,2", ""),
        ("pt", "A perda é 0.45, ou −0,45.", "0.45|−0,45", ""),
        ("pt", r"A perda é $-0{,}45$.", "-0,45", ""),
        ("pt", "São 45% dos 109.482.240 parâmetros, ou 109 milhões.", "45%|109.482.240|109 milhões", ""),
        ("pt", r"Cerca de $45\%$ e $109\,482\,240$ ou $1{.}024$.", "45%|109482240|1.024", ""),
        ("pt", "1. um\n2. dois\n\n## 3.1 Três\n\n(1) a; (2) b", "", "1 2 3.1 1 2"),
        ("pt", "mas (7) não enumera nada", "7", ""),
        ("pt", "GPT-1, float32 e BERT2; a 3ª linha", "", "1 32 2 3"),
        ("pt", "capítulo 10, seções 2 e 3", "", "10 2 3"),
        ("pt", "Taylor 1953 (e também 2017, adiante); mas 2048 tokens", "2048", "1953 2017"),
        ("pt", "versão 2.13.0, em 3 de março de 2020", "", "2.13.0 3 2020"),
        ("pt", "código `x = 3`, número `0.5`, role {eq}`eq-3`", "0.5", ""),
        ("pt", "[texto 4](alvo-5.html), nota[^6]", "4", ""),
        ("pt", f"{FENCE}\nx = 3\n{FENCE}\n\n{FENCE}{{note}} Dois 4\n:class: c5\nseis 6\n{FENCE}", "4|6", ""),
        ("pt", f"{FENCE}{{mermaid}}\nA1 --> B[soma 5]\n{FENCE}", "5", "1"),
        ("pt", "A proporção 80/10/10, com [1, 2,5]", "80|10|10|1|2,5", ""),
        ("en", "The loss falls from 2.079 to 0.2.", "2.079|0.2", ""),
        ("en", "Of 1,234,567 rows, 12.5% stay: about 1.2 million.", "1,234,567|12.5%|1.2 million", ""),
        ("en", "points (3,4) and [0,1]", "3|4|0|1", ""),
        ("en", "see [1] and x[2]; 10<sup>2</sup>\n\n**1.** first", "10", "1 2 2 1"),
        ("en", "Section 2.3, Figs. 4 and 5, Eq. (6), p. 7", "", "2.3 4 5 6 7"),
        ("en", "the 2nd of 3D", "", "2 3"),
        ("en", "# 2 Second\n\n## Week 3: more", "", "2 3"),
        ("en", "On March 3, 2020 and 2020-03-04", "", "3 2020 2020 03 04"),
        ("en", "since 1812, 1914-1918", "", "1812 1914 1918"),
        ("en", "in 2000 steps, between 1500 and 2000", "2000|1500|2000", ""),
        ("en", "a size of 2048 (1536), at 30°", "2048|1536|30", ""),
        ("en", "from 1600 to 1914, in Boston 1999 (and 2001)", "", "1600 1914 1999 2001"),
        ("en", "arXiv:1810.04805, doi:10.1000/182, https://a.org/2020/1", "", "1810.04805"),
        ("en", "Example Studies 41(1), 195–221, or 26 (3): 363–92", "", "41 1 195 221 26 3 363 92"),
        ("en", "In Examples 54.17-18 (2011): 3970-3978", "", "54.17 18 2011 3970 3978"),
        ("en", "Examples 33 (3). Example Press: 195–214; 9, no. 2 (1987): 5", "", "33 3 195 214 9 2 1987 5"),
        ("en", "* Doe, J. 2014. “Title”. On 2018-09-24 Mon 08:33", "", "2014 2018 09 24 08 33"),
        ("en", "![plot-2.png](a.png) in kg/m^3 and s^-1, a 2d array of 3^2", "3|2", "2 3 -1 2"),
        ("en", "as known[4, 5], with [4, 5] and 12 (3) left", "4|5|12|3", "4 5"),
        ("en", "BERT-110M has 110M, of 2.5B", "110M|2.5B", "110M"),
        ("en", r"$\int_0^2 x\,dx$, $C_2^2$", "", "0 2 2 2"),
        ("en", "**45**% of *3*.5 and 2*3", "45%|3.5|2|3", ""),
        ("en", "| a | b |\n|---|---|\n| 1 | 1\\|2 |\n| 0.5 | 1 |", "1|1|2|0.5|1", ""),
        ("en", "共有3个样本", "3", ""),
        ("en", "issue #17, colour #7f4707, © 2019", "", "17 2019"),
        ("es", "Sección 3: de 10 000, el 2,5 %; 3 millones en 1999.", "10 000|2,5 %|3 millones", "3 1999"),
        ("fr", "Chapitre 2, 1er mai 2020 : 12 500,75, 3 milliards.", "12 500,75|3 milliards", "2 1 2020"),
        ("de", "Abschnitt 4, am 3. Mai 2020: 1.234,5 und 2 Millionen.", "1.234,5|2 Millionen", "4 3 2020"),
    ],
)
def test_values_and_notation(language, text, values, notation):
    found = numerals(text, CONVENTIONS[language])
    assert all(re.search(r"\d", text[n.start : n.end]) for n in found)
    assert "|".join(plain_text(n) for n in found if not n.notation) == values
    assert " ".join(plain_text(n) for n in found if n.notation) == notation


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
    st.sampled_from([CONVENTIONS["pt"], CONVENTIONS["en"]]),
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
    numeral = numerals(page, CONVENTIONS["en"])[1]
    shown = around(page, numeral)
    assert "42" in shown and len(shown) < 110 and "last" not in shown and "Other" not in shown
