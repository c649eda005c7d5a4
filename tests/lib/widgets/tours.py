"""A tour of each widget: states that a reader may reach, and where the page then differs from `lib`.

A tour takes the panel on the page and the state that the page stores for it, and yields, after each stop,
what it did and the differences that it found. It works wherever the widget stands, the built book included.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from playwright.sync_api import Locator

from lib.tokenizer import Tokenizer
from lib.widgets.base import CourseWidget
from lib.widgets.cross_entropy_bars import CrossEntropyBars
from lib.widgets.mask_explorer import MaskExplorer
from lib.widgets.mlm_corruption import MLMCorruption
from lib.widgets.page_model import EXAMPLES, PageModel
from lib.widgets.parameter_counter import BERT_TOKENS, ParameterCounter
from lib.widgets.quiz import Quiz
from lib.widgets.real_attention import RealAttention
from lib.widgets.sense_space import SenseSpace
from lib.widgets.wordpiece_steps import WordPieceSteps
from tests.browser.chromium import lasting
from tests.lib.widgets import masks_page as masks
from tests.lib.widgets import test_cross_entropy_bars as bars
from tests.lib.widgets import test_mlm_corruption as corruption
from tests.lib.widgets import test_page_model as page_model
from tests.lib.widgets import test_parameter_counter as counter
from tests.lib.widgets import test_real_attention as attention
from tests.lib.widgets import test_sense_space as senses
from tests.lib.widgets import test_wordpiece_steps as wordpiece
from tests.lib.widgets.test_quiz import answer

Stops = Iterator[tuple[object, list[str]]]


@dataclass(frozen=True)
class Tour:
    """The class of a widget, what finds its view on a page, and what to do with it."""

    widget: type[CourseWidget]
    selector: str
    stops: Callable[[Locator, dict], Stops]


def mask_stops(panel: Locator, stored: dict) -> Stops:
    n = len(stored["tokens"])
    states = [masks.State("causal", 0.5, 4, n), masks.State("padding", 2.0, 8, n - 1)]
    states += [masks.State("causal_padding", 1.0, 2, n - 2), masks.State("invertida", 1.0, 1, n)]
    states += [masks.State("depois", 0.05, 64, n), masks.State("diagonal", 10.0, 2, n)]
    for state in states:
        state.apply(panel)
        yield state, masks.differences(panel, state.shown(stored["scores"]))


def corruption_stops(panel: Locator, stored: dict) -> Stops:
    first = stored["first_seed"]
    for state in (
        corruption.State(stored["text"], 100, 0, 100, 2),
        corruption.State("A avó comprou <b>manga</b> 🙂 na feira!", 50, 80, 10, 101),
        corruption.State("ontem", 15, 80, 0, 3),
    ):
        state.apply(panel)
        seed = first + state.draws - 1
        yield state, corruption.differences(panel, state.shown(first, stored["vocabulary"]), seed)


def bars_stops(panel: Locator, stored: dict) -> Stops:
    reader = bars.Reader(panel, stored["words"], stored["logits"])
    for _ in bars.wander(reader, seed=5, count=6):
        yield (reader.logits, reader.target, reader.mode), reader.differences()


def counter_stops(panel: Locator, stored: dict) -> Stops:
    reader = counter.Reader(panel)
    for preset in ("xlm-r-base", "gpt-1"):
        reader.choose(preset)
        yield preset, reader.differences()
    reader.size("layers", 24)
    reader.size("d", 1024)
    reader.size("heads", 16)
    reader.train(head=True, tokens=BERT_TOKENS)
    yield reader.sizes, reader.differences()


def wordpiece_stops(panel: Locator, stored: dict) -> Stops:
    for k, reader in enumerate(stored["readers"]):
        tokenizer = Tokenizer(
            reader["vocabulary"], lowercase=reader["lowercase"], strip_accents=reader["strip_accents"]
        )
        panel.get_by_label("Vocabulário", exact=True).select_option(index=k)
        for text, word, step in (("As avós não comeram <i>pão</i>", 2, 1), ("gatinhos rapidamente", 1, 2)):
            panel.get_by_label("Texto", exact=True).fill(text)
            panel.locator("[data-word]").nth(word).click()
            wordpiece.set_step(panel, step)
            expected = wordpiece.shown(text, tokenizer, word, step)
            yield (k, text), wordpiece.differences(panel, expected, word)


def attention_stops(panel: Locator, stored: dict) -> Stops:
    for state in attention.states(seed=11, count=4):
        state.apply(panel)
        yield state, attention.differences(panel, state)


def sense_stops(panel: Locator, stored: dict) -> Stops:
    for state in random.Random(3).sample(senses.ALL, 4):
        state.apply(panel)
        yield state, senses.differences(panel, state)


def model_stops(panel: Locator, stored: dict) -> Stops:
    page_model.load(panel)
    texts = ["a moça [MASK] o [MASK]", *page_model.sentences(2, seed=23), page_model.IMPOSSIBLE, EXAMPLES[1]]
    for k, text in enumerate(texts):
        state = page_model.State(text, text.count("[MASK]") - 1, 1 + k % 2, 1 + k % 4)
        state.apply(panel)
        yield state, page_model.differences(panel, state)


def quiz_stops(root: Locator, stored: dict) -> Stops:
    for i, question in enumerate(stored["questions"]):
        k = (i + 1) % len(question["choices"])
        verdict = "right" if question["choices"][k]["right"] else "wrong"
        yield question["text"], wrong_verdict(answer(root, i, k), verdict)


@lasting
def wrong_verdict(feedback: Locator, verdict: str) -> list[str]:
    said = feedback.get_attribute("data-verdict")
    return [] if said == verdict else [f"page {said}, lib {verdict}"]


TOURS = [
    Tour(MaskExplorer, ".cw-panel:has(.cw-mask)", mask_stops),
    Tour(MLMCorruption, ".cw-panel:has(.cw-mlm)", corruption_stops),
    Tour(CrossEntropyBars, ".cw-panel:has(.cw-bars)", bars_stops),
    Tour(WordPieceSteps, ".cw-panel:has(.cw-wordpiece)", wordpiece_stops),
    Tour(RealAttention, ".cw-panel:has(.cw-real)", attention_stops),
    Tour(ParameterCounter, ".cw-panel:has(.cw-counter)", counter_stops),
    Tour(SenseSpace, ".cw-panel:has(.cw-sense)", sense_stops),
    Tour(PageModel, ".cw-panel:has(.cw-page-model)", model_stops),
    Tour(Quiz, ".cw-quiz", quiz_stops),
]
