"""The quiz among all widgets."""

from lib.quizzes import ask, questions, right, wrong
from lib.widgets.quiz import quiz, quiz_of
from tests.lib.widgets.cases.case import Case, Hostile
from tests.lib.widgets.pages.quiz import QuizPage, at, plain
from tests.lib.widgets.shared import HOSTILE


def wrongs(*texts):
    return [wrong(text, f"{text} não é.") for text in texts]


SMALL = [
    ask("Um `a` < b?", right("sim & *não*", "é <b>."), *wrongs("b", "c"), section="A seção"),
    ask("Dois?", right("x", "pois é."), *wrongs("y", "z"), section="Outra `seção`"),
    ask("Três?", right("1", "é um."), *wrongs("2", "3"), section="Sem lugar"),
]
RIGHT = [at(question, True) for question in SMALL]


def small():
    return quiz_of("t", SMALL)


def hostile():
    # The texts are the course's own: marks of code in them are meant, and no word has 870 letters.
    texts = [text.replace("`", "'") for text in HOSTILE[:5]]
    asked = [
        ask(text, right(f"r {text}", text), wrong(f"w {text}", text), wrong("x", "x"), section=text)
        for text in texts
    ]
    answers = [(i, at(question, i % 2 == 0)) for i, question in enumerate(asked)]
    return Hostile(quiz_of("t", asked), answers, (0, 1))


def answered(*last):
    """The state after these choices, one a question; None leaves a question open."""
    return [[] if k is None else [k, k] for k in last]


def tour(stored):
    return [(i, (i + 1) % len(question["choices"])) for i, question in enumerate(stored["questions"])]


MUTATIONS = {
    "call every choice right": ('VERDICTS[right ? "right" : "wrong"]', "VERDICTS.right"),
    "explain the first choice": ("this.choices[k];", "this.choices[0];"),
    "count the last try": ("answers[i] = [first, k];", "answers[i] = [k, k];"),
    "read again what was right": ("choices[first].right ? [] : [i]", "choices[first].right ? [i] : []"),
    "end one question early": ("if (done < n)", "if (done < n - 1)"),
    "forget what was chosen": ("input.checked = k === last;", "input.checked = false;"),
}

CASE = Case(
    name="quiz",
    page=QuizPage,
    make=small,
    starts=lambda: [(small(), answered(None, None, None)), (quiz("02"), [[] for _ in questions("02")])],
    moves=lambda: [(i, k) for i, question in enumerate(SMALL) for k in range(len(question.choices))],
    tour=tour,
    pair=lambda: (quiz("01"), small()),
    used=((3, 0), (1, 1)),
    heard=(1, RIGHT[1]),
    stops=[plain(SMALL[0].choices[0].text)],
    keys=[
        ("Space", answered(None, None, None)),
        ("ArrowDown", answered(None, None, None)),  # moving among the choices answers nothing
        ("Enter", answered(1, None, None)),
        # The button, after a right answer the unfolding of the others, and the next question.
        *[("Tab", None)] * (3 if SMALL[0].choices[1].right else 2),
        ("ArrowDown", None),
        ("Enter", answered(1, 1, None)),
    ],
    change="""(root, k) => {
      const question = root.querySelectorAll("[data-question]")[k % 3];
      question.querySelectorAll("input")[(k >> 1) % 3].click();
      question.querySelector("button").click();
    }""",
    times=201,
    leaves=60,
    poke="""(el, k) => {
      el.querySelectorAll("input")[k].checked = true;
      el.querySelector("form").dispatchEvent(new Event("submit", { cancelable: true }));
    }""",
    listeners=1,
    refusals=[
        (lambda: quiz_of("t", []), "asked must hold at least one question"),
    ],
    hostile=hostile,
    mutations=MUTATIONS,
    telling=[(1, 0), (0, at(SMALL[0], False)), (0, RIGHT[0]), (1, RIGHT[1]), (2, 1), (2, 2)],
)
