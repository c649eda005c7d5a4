"""What a reader sees of a page: text and mathematics, each character with its place in the source."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trust.markdown import view

FENCE = "```"


def seen(page: str) -> str:
    """The words and figures that a reader sees outside mathematics."""
    return " ".join(re.findall(r"[\w.%]+", view(page).text().chars))


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("---\ntitle: 1\n---\n\nbody 2", "body 2"),
        ("% comment 1\n\n(label-2)=\n\n+++ 3\n\nbody 4", "body 4"),
        (f"{FENCE}python\n1\n{FENCE}\n\n    2\n\n~~~\n3\n~~~\n\nbody", "body"),
        (f"{FENCE}{{code-cell}} ipython3\n:tags: [a1]\n2\n{FENCE}", ""),
        (f"{FENCE}{{figure}} a1.png\n:width: 2%\n:alt: two 2\n:name: f3\n\nnote 4\n{FENCE}", "two 2 note 4"),
        (f"{FENCE}{{figure}} a1.png\n---\nheight: 9px\nalt: two 2\n---\nnote 4\n{FENCE}", "two 2 note 4"),
        (":::{admonition} Title 1\n:class: c2\nbody 3\n::::{tip}\nin 4\n::::\n:::", "Title 1 body 3 in 4"),
        ("````{grid} 1 2 3\n```{grid-item-card} Card 4\nbody 5\n```\n````", "Card 4 body 5"),
        (f"> {FENCE}{{note}}\n> quoted 1\n> {FENCE}", "quoted 1"),
        (f"- item\n\n  {FENCE}{{note}}\n  inside 1\n  {FENCE}", "item inside 1"),
        (f"{FENCE}{{list-table}} Title\n:widths: 10 20\n* - a\n  - 30%\n{FENCE}", "Title a 30%"),
        ("role {cite:p}`key2020`, {ref}`fig-1`, {abbr}`MLM 2 (x)`", "role MLM 2 x"),
        ("[text 1](a2.html 'title 3') ![alt 4](b5.png) <https://a.org/6>", "text 1 alt 4"),
        ("[text 1][ref] and [ref]\n\n[ref]: http://a.org/2", "text 1 and ref"),
        ("note[^1] {{ value_2 }}\n\n[^1]: Footnote 3.", "note Footnote 3."),
        ("Term 1\n: Definition 2", "Term 1 Definition 2"),
        ("text{.class-1 width=2} [span 3]{.a4} ![a](b.png){width=50}", "text .class 1 width 2 span 3 a"),
        ("<!-- 1 --> <div style='width: 2px'>\n<b>three 3</b>\n</div>\n\n<!--\n4\n-->", "three 3"),
        ('<img src="a1.png" alt="two 2" width="3"/>', "two 2"),
        ("<table><tr><td>1</td><td>0.5</td></tr></table>", "1 0.5"),
        ("<pre>1</pre>\n\na <code>2</code> <kbd>3</kbd> b\n\n<script>4</script>\n\n<style>5</style>", "a b"),
        ("a &nbsp; &lt; 3&percnt; 4\\% 5\\_000", "a 3% 4% 5_000"),
        ("a\\\n1  \n2", "a 1 2"),
        ("Setext 1\n========\n\n# ATX 2 #\n", "Setext 1 ATX 2"),
        ("Price: \\$5 `x_1` ``a ` 2``", "Price 5"),
    ],
)
def test_text(page, text):
    assert seen(page) == text


@pytest.mark.parametrize(
    ("page", "formulas"),
    [
        ("$x_1$ and $$y = 2$$ here", ["x_1", "y = 2"]),
        ("$$\nx = 7\n$$ (eq-9)", ["\nx = 7\n"]),
        ("> $$\n> x = 7\n> $$", ["\n> x = 7\n> "]),
        ("> a $x\n> = 1$", ["x\n= 1"]),
        (f"{FENCE}{{math}}\n:label: eq-1\nx = 7\n{FENCE}", ["x = 7\n"]),
        ("{math}`a = 4`", ["a = 4"]),
        ("\\begin{align}\na &= 5\n\\end{align}", ["\\begin{align}\na &= 5\n"]),
        ("<div>\n$y = 3$ <code>$z$</code>\n</div>", ["y = 3"]),
        ("`$x = 1$`", []),
    ],
)
def test_mathematics(page, formulas):
    assert [formula.chars for formula in view(page).math] == formulas


def test_list_marks_and_headings_are_known():
    shown = view("1. one\n   - 2) two\n\n# 3 Three\n\n<h2>4. Four</h2>")
    assert [mark.chars for mark in shown.marks] == ["1", "2"]
    assert sorted(shown.starts.values()).count(True) == 2


def test_diagrams_are_read_if_asked():
    page = f"{FENCE}{{mermaid}}\nA[sum 5]\n{FENCE}\n\n{FENCE}mermaid\nB[sum 6]\n{FENCE}"
    assert "5" not in view(page).text().chars
    shown = view(page, frozenset({"mermaid"})).text().chars
    assert "sum 5" in shown and "sum 6" in shown


@given(st.text(alphabet="ab1 \n`*_[](){}<>!$\\|#>-:~&;%+=^\t", max_size=80))
def test_each_character_comes_from_its_place(page):
    shown = view(page)
    for text in (shown.text(), *shown.math, *shown.marks):
        assert len(text.chars) == len(text.at)
        assert all(page[at] == char for char, at in zip(text.chars, text.at, strict=True) if char in "ab1")
