"""The questions: enough of them, every choice explained, no typed figures, nothing given away."""

import ast
import math
import re
from collections.abc import Callable, Sequence
from functools import partial, reduce
from pathlib import Path

import numpy as np
import pytest

from lib import quizzes
from lib.quizzes import CHAPTERS, Choice, Question, ask, questions, right, wrong
from tests.refusals import refuses
from tests.trust.pages import BOOK, read_page

MODULES = sorted(Path(quizzes.__file__).parent.glob("chapter_*.py"))
ALL = [question for chapter in CHAPTERS for question in questions(chapter)]
# Right answers worked out by hand, with pencil, logarithms and the source papers: chapter, words, answer.
BY_HAND = [
    ("00", "ln 2 e ln 6", "0,75"),  # 6 / (2 + 6)
    ("00", "0,25 à palavra", "1,39"),  # 2 ln 2
    ("00", "dado honesto", "1,79"),  # ln 6
    ("00", "x @ w", "`(2, 4)`"),
    ("00", "comparadas com", "12"),
    ("01", "Com 6 tokens", "21"),
    ("01", "A segunda linha", "0,818"),  # e^2 / (e^0.5 + e^2)
    ("01", "por zero", "0,119"),  # 1 / (e^2 + 1)
    ("01", "posição 3", "As das posições 3, 4 e 5."),
    ("01", "o gato dorme", "0,000 nat"),  # ln 2 - ln 2
    ("01", "2048 tokens", "16 MiB"),
    ("02", "segundo token", "0,40"),
    ("02", "Que fração de *todos*", "32%"),
    ("02", "entre os que", "81%"),
    ("02", "nenhum ser", "52%"),  # 0.85^4
    ("02", "não* seguidas", "0,357"),
    ("03", "gatinho", "`gat` `##inho`"),
    ("03", "com vieses", "2362368"),
    ("03", "desvio-padrão", "12"),
    ("04", "em bits?", "4,000"),
    ("04", "perda inicial", "10,3"),  # ln 30522
    ("04", "três palavras", "1,04"),  # 1.5 ln 2
    ("04", "perplexidade", "8"),
    ("04", "logit", "−0,40"),
    ("05", "Um lote", "24"),
    ("05", "congelados", "2307"),
    ("05", "melhor trecho", "de 3 a 3"),
    ("05", "XLM-R", "46%"),
    ("05", "SpanBERT", "2,1"),  # 1.9168 / 0.92224, with p = 0.4 cut at 5
    ("05", "variância", "0,25"),
]


def made_up(position: int, lengths: tuple[int, ...], k: int = 0):
    """A question whose right choice stands at `position`; the choices have the given lengths."""
    texts = [chr(97 + j) * n for j, n in enumerate(lengths)]
    choices = [(right if j == position else wrong)(text, "porque sim") for j, text in enumerate(texts)]
    return Question(f"Pergunta {k}?", tuple(choices), "Seção")


def other_at(position: int, length: int) -> tuple[int, ...]:
    """Four lengths, all five but one."""
    return tuple(length if j == position else 5 for j in range(4))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_has_at_least_eight_different_questions(chapter):
    texts = [question.text for question in questions(chapter)]
    assert len(set(texts)) == len(texts) >= 8


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_function_gives_the_figures_of_a_question(path):
    functions = re.findall(r"(?m)^def ([a-z]\w*)", path.read_text(encoding="utf-8"))
    tables = re.findall(r"(?m)^\[(\w+)\]$", path.with_suffix(".toml").read_text(encoding="utf-8"))
    assert functions and set(functions) <= set(tables)


def test_there_is_one_module_per_chapter():
    assert [path.stem for path in MODULES] == [f"chapter_{chapter}" for chapter in CHAPTERS]


def test_a_page_asks_the_questions_that_it_names():
    order, mask = questions("03", "order", "the_mask_that_stays")
    assert order == questions("03")[1] and mask == questions("03")[3]


def test_explanations_of_a_question_differ():
    """An explanation pasted from one choice to the next explains neither."""
    repeated = [q.text for q in ALL if len({choice.why for choice in q.choices}) < len(q.choices)]
    assert repeated == []


@pytest.mark.parametrize(("chapter", "words", "expected"), BY_HAND)
def test_the_answer_is_the_one_worked_out_by_hand(chapter, words, expected):
    [question] = [q for q in questions(chapter) if words in q.text]
    assert [choice.text for choice in question.choices if choice.right] == [expected]


def typed_figures(source: str) -> list[str]:
    """The string literals of a module, its documentation apart, that contain a digit."""
    tree = ast.parse(source)
    documented = (ast.Module, ast.FunctionDef, ast.ClassDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, documented)]
    docs = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    strings = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return [n.value for n in strings if id(n) not in docs and re.search(r"[0-9]", n.value)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_figure_is_typed(path):
    assert typed_figures(path.read_text(encoding="utf-8")) == []
    assert typed_in_texts(path.with_suffix(".toml").read_text(encoding="utf-8")) == []


def typed_in_texts(tables: str) -> list[str]:
    """The lines with a digit outside the braces of a computed figure, comments apart."""
    lines = [line for line in tables.splitlines() if not line.startswith("#")]
    return [line for line in lines if re.search(r"[0-9]", re.sub(r"\{.*?\}", "", line))]


def test_a_typed_figure_is_found():
    assert typed_figures('"""Chapter 1."""\nright("12%", f"{x} e 3")') == ["12%", " e 3"]
    fine, typed = 'right."{n:0} de {n}" = "b"', 'wrong."{n:0}" = "{x} e 3"'
    assert typed_in_texts(f"# 1\n{fine}\n{typed}") == [typed]


@pytest.mark.parametrize("question", ALL, ids=lambda question: question.text[:40])
def test_marks_of_code_and_emphasis_are_closed(question):
    parts = [question.text, question.section]
    parts += [text for choice in question.choices for text in (choice.text, choice.why)]
    for text in parts:
        plain = re.sub(r"`[^`]+`|\*[^*]+\*", "", text)
        assert "`" not in plain and "*" not in plain, text
        assert text == text.strip() and "  " not in text


# --- nothing is given away: no quiz is answered unread, by position or by the length of the choices ---------


Rule = Callable[[Sequence[Choice]], int | None]


def _by_length(extreme: Callable[[list[int]], int], choices: Sequence[Choice]) -> int | None:
    """The choice of the extreme length, if it stands only once: a tie tells a guesser nothing."""
    lengths = [len(choice.text) for choice in choices]
    return lengths.index(extreme(lengths)) if lengths.count(extreme(lengths)) == 1 else None


def _place(k: int, choices: Sequence[Choice]) -> int | None:
    return k if k < len(choices) else None


RULES: dict[str, Rule] = {
    "the longest choice": partial(_by_length, max),
    "the shortest choice": partial(_by_length, min),
    "the last choice": lambda choices: len(choices) - 1,
    **{f"choice {k + 1}": partial(_place, k) for k in range(5)},
}


def luck(quiz: Sequence[Question]) -> list[float]:
    """The probability that blind guessing answers exactly 0, 1, 2, ... questions of the quiz."""
    chances = [1 / len(question.choices) for question in quiz]
    return [*reduce(np.convolve, ([1 - p, p] for p in chances), [1.0])]


def giveaways(quiz: Sequence[Question], chance: float = 0.02) -> list[str]:
    """The rules right so often, or so seldom, that luck does it with a probability below `chance`.

    A guesser who knows nothing of the subject uses one rule for the whole quiz, or its opposite.
    """
    found = []
    for name, rule in RULES.items():
        guessed = [(question, k) for question in quiz if (k := rule(question.choices)) is not None]
        hits = sum(question.choices[k].right for question, k in guessed)
        exactly = luck([question for question, _ in guessed])
        if min(math.fsum(exactly[hits:]), math.fsum(exactly[: hits + 1])) < chance:
            found.append(f"{name} is right {hits} times of {len(guessed)}")
    return found


BALANCED = [made_up(k % 4, (5, 5, 5, 5), k) for k in range(12)]


@pytest.mark.parametrize(
    "quiz", [*map(questions, CHAPTERS), ALL, BALANCED], ids=[*CHAPTERS, "all of them", "made up"]
)
def test_no_rule_answers_a_quiz_unread(quiz):
    assert giveaways(quiz) == []


@pytest.mark.parametrize(
    ("quiz", "expected"),
    [
        ([made_up(1, (5, 5, 5, 5), k) for k in range(8)], "choice 2 is right 8 times of 8"),
        ([made_up(k % 4, other_at(k % 4, 9), k) for k in range(8)], "the longest"),
        ([made_up(k % 4, other_at(k % 4, 2), k) for k in range(8)], "the shortest"),
        ([made_up(k % 3, (5, 5, 5, 9), k) for k in range(24)], "the longest choice is right 0 times of 24"),
        ([made_up(n - 1, (5,) * n, n) for n in (3, 4, 5) * 3], "the last choice is right 9 times of 9"),
    ],
    ids=["same place", "always longest", "always shortest", "never longest", "always last"],
)
def test_a_giveaway_is_found(quiz, expected):
    assert any(found.startswith(expected) for found in giveaways(quiz)), giveaways(quiz)


def test_luck_is_the_binomial_distribution():
    quiz = [made_up(0, (5, 5, 5, 5), k) for k in range(3)]
    assert luck(quiz) == pytest.approx([27 / 64, 27 / 64, 9 / 64, 1 / 64])


# --- the sections exist -------------------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_section_to_read_again_is_a_heading_of_the_chapter(chapter):
    pages = [read_page(path) for path in BOOK.glob(f"{chapter}_*.ipynb")]
    text = "\n\n".join(block.text for page in pages for block in page.blocks)
    headings = re.findall(r"^#{1,4} (.+?)\s*$", re.sub(r"(?ms)^```.*?^```", "", text), re.MULTILINE)
    assert {question.section for question in questions(chapter)} <= set(headings)
    assert len({question.section for question in questions(chapter)}) >= 4, "the quiz covers the chapter"


# --- a bad question is refused ------------------------------------------------------------------------------


A, B, C = right("a", "b"), wrong("c", "d"), wrong("e", "f")


test_a_bad_question_and_one_that_is_not_there_are_refused = refuses(
    (lambda: ask("", A, B, C, section="S"), "text and section"),
    (lambda: ask("P?", A, B, C, section=" "), "text and section"),
    (lambda: ask("P?", A, B, section="S"), "must be 3 to 5 different texts"),
    (lambda: ask("P?", A, wrong("a", "d"), C, section="S"), "different texts"),
    (lambda: ask("P?", right("a", ""), B, C, section="S"), "an explanation"),
    (lambda: ask("P?", wrong("a", "b"), B, C, section="S"), "exactly one"),
    (lambda: ask("P?", A, right("c", "d"), C, section="S"), "exactly one"),
    (lambda: questions("1"), "chapter must be one of 00, 01, 02, 03, 04, 05, got '1'"),
    (lambda: questions("03", "no_such", "order", "nor_this"), "of chapter 03, got no_such, nor_this"),
)


def test_the_order_does_not_depend_on_how_the_question_was_written():
    assert ask("P?", A, B, C, section="S") == ask("P?", C, B, A, section="S")
