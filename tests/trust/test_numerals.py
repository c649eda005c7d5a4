"""The rule that tells values from notation, case by case."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trust.numerals import Reading, _readable, numerals, printed_numbers
from tests.trust.prose import shows, written

FENCE = "```"


@pytest.mark.parametrize(
    ("markdown", "values", "notation"),
    [
        ("A perda cai de 2,079 para 0,2.", ["2,079", "0,2"], []),
        ("A perda é 0.45, ou −0,45.", ["0.45", "−0,45"], []),
        (r"A perda é $-0{,}45$.", ["-0,45"], []),
        ("São 45% dos 109.482.240 parâmetros, ou 109 milhões.", ["45%", "109.482.240", "109 milhões"], []),
        (r"Cerca de $45\%$ e $109\,482\,240$ ou $1{.}024$.", ["45%", "109482240", "1.024"], []),
        (r"Um erro de $2 \times 10^{-5}$, abaixo de $10^{-3}$.", [r"2 \times 10^{-5}", "10^{-3}"], []),
        (r"$x_1, x_{12}$ e $N^2$ em $\mathbb{R}^{3}$", [], ["1", "12", "2", "3"]),
        (r"$i + 1$, $\ln 8 \approx 2{,}079$ e $N(N+1)/2 = 10$", ["2,079", "10"], ["1", "8", "1", "2"]),
        (r"$e^{0{,}75} \approx 2{,}117$ e $e^{2}$", ["0,75", "2,117"], ["2"]),
        (r"$N = 4$ e $[0, 1]$", ["4", "0", "1"], []),
        (r"$\begin{bmatrix} 1 & 0 \\ 0{,}5 & 2 \end{bmatrix}$", ["1", "0", "0,5", "2"], []),
        (r"$64\,\text{MiB}$ em $\text{float32}$", ["64"], ["32"]),
        ("1. um\n2. dois\n\n## 3.1 Três\n\n(1) a; (2) b", [], ["1", "2", "3.1", "1", "2"]),
        ("mas (7) não enumera nada", ["7"], []),
        (
            "GPT-1, float32 e BERT2; capítulo 10, seções 2 e 3; a 3ª linha",
            [],
            ["1", "32", "2", "10", "2", "3", "3"],
        ),
        ("Taylor 1953 (e também 2017, adiante); mas 2048 tokens", ["2048"], ["1953", "2017"]),
        ("versão 2.13.0", [], ["2.13.0"]),
        (
            "código `x = 3`, número `0.5`, role {eq}`eq-3`, [texto 4](alvo-5.html) e nota[^6]",
            ["0.5", "4"],
            [],
        ),
        (
            f"{FENCE}python\nx = 3\n{FENCE}\n\n{FENCE}{{note}} Título 4\n:class: c5\ncorpo 6\n{FENCE}",
            ["4", "6"],
            [],
        ),
        (f"{FENCE}{{figure}} imagem-1.png\n:alt: são 2 setas\nlegenda 3\n{FENCE}", ["2", "3"], []),
        (f"{FENCE}{{math}}\nx = 7\n{FENCE}\n\n(sec-8)=\n", ["7"], []),
        ("$$ S = 4 $$ (eq-9)", ["4"], []),
        ('<img src="a1.png" alt="são 2"> <!-- 3 -->', ["2"], []),
        (f"{FENCE}{{mermaid}}\nA1 --> B[soma 5]\nstyle A1 stroke-width:2px\n{FENCE}", ["5"], ["1"]),
    ],
)
def test_values_and_notation(markdown, values, notation):
    found = numerals(markdown)
    assert [written(n) for n in found if not n.notation] == values
    assert [written(n) for n in found if n.notation] == notation


@given(st.text(alphabet="abç 0123456789.,$_^{}=+-\\`#()[]\n%", max_size=60))
def test_no_digit_that_a_reader_sees_is_left_out(markdown):
    text, math = _readable(markdown)
    visible = {m.start() for m in re.finditer(r"[0-9]", text)}
    visible |= {i for a, b in math for i in range(a, b) if markdown[i] in "0123456789"}
    covered = {i for n in numerals(markdown) for i in range(n.start, n.end)}
    structural = {
        i
        for m in re.finditer(
            r"\\(?:begin|end|label|tag|ref)\{[^{}]*\}(?:\{[^{}]*\})?|\\\\\[[^\]]*\]", markdown
        )
        for i in range(*m.span())
    }
    assert visible <= covered | structural


@pytest.mark.parametrize(
    ("prose", "output", "shown"),
    [
        ("0,45", "soma: 0.4549", True),
        ("0,45", "soma: 0.4551", False),
        ("0,45", "soma: 0.5", False),
        ("0,4500", "soma: 0.45", False),
        ("−0,45", "soma: 0.45", False),
        ("3", "total 3.0000", True),
        ("3", "total 2.98", False),
        ("3", "x3 ou 13", False),
        ("45%", "0.4512", True),
        ("45%", "45 %", True),
        ("45%", "45", False),
        ("109 milhões", "109_482_240", True),
        ("109 milhões", "109,482,240", True),
        ("109.482.240", "109482240", True),
        ("1.414", "1.41421", True),
        ("0,131", "0,131 nat", True),
        (r"$2 \times 10^{-5}$", "2.04e-05", True),
        (r"$10^{-5}$", "1e-05", True),
        (r"$2^{20}$", "1048576", True),
        ("9", "[7. 8. 9.]", True),
    ],
)
def test_printed_at_the_precision_shown(prose, output, shown):
    (numeral,) = numerals(prose)
    assert shows(printed_numbers(output), numeral) is shown


@given(st.integers(-(10**6), 10**6), st.integers(0, 4))
def test_a_printed_number_is_read_back(n, decimals):
    number = Decimal(n).scaleb(-decimals)
    assert Reading(number, Decimal(1).scaleb(-decimals)) in printed_numbers(f"valor: {number:f}")
