"""The model in the page: its Python twin, its file, and what it alone does on a page."""

import json

import pytest
import torch

from lib.corpus import PORTUGUESE, posterior, sample
from lib.models import page_bundle
from lib.vocabulary import MASK
from lib.widgets.page_model import EXAMPLES, PageModel, page_model, shown
from tests.lib.widgets.cases.page_model import BOX, IMPOSSIBLE, ModelPage, State, sentences
from tests.lib.widgets.shared import DRAW_ALONE, run_node, stored
from tools.console import ROOT

SCRIPT = ROOT / "book" / "_static" / "course_model.js"
LIMIT = 2_000_000  # bytes of weights on a page


# --- the model and its bundle -------------------------------------------------------------------------------


@pytest.mark.slow
def test_model_is_close_to_the_exact_posterior_of_held_out_sentences():
    ids = sample(PORTUGUESE, 200, 10**6).ids
    gaps, exact = [], []
    for row in ids:
        words = row[row != 0].tolist()
        place = len(words) // 2
        words[place] = MASK
        exact.append(posterior(PORTUGUESE, torch.tensor(words))[place])
        gaps.append(shown(" ".join(PORTUGUESE.vocabulary[i] for i in words), 0, 1, 1).model)
    exact, model = torch.stack(exact), torch.stack(gaps)
    lost = (exact * (exact.clamp_min(1e-300) / model).log()).sum(-1).mean()
    alone = (exact * (exact.clamp_min(1e-300) / exact.mean(0).clamp_min(1e-300)).log()).sum(-1).mean()
    assert lost < alone / 5, "the model must know far more than how often each word occurs"


def test_script_of_the_book_is_the_bundle_of_today_and_small():
    assert SCRIPT.read_text(encoding="utf-8") == page_bundle.script(), "run make book"
    assert SCRIPT.stat().st_size < LIMIT


@pytest.mark.slow
def test_all_logits_posteriors_and_weights_in_javascript_are_those_of_torch():
    texts, config = [*EXAMPLES, IMPOSSIBLE, *sentences(40, seed=7)], page_bundle.model().encoder.config
    script = f"""{PageModel._esm}
      import {{ readFileSync }} from "node:fs";
      (0, eval)(readFileSync({json.dumps(str(SCRIPT))}, "utf8"));
      const network = new MaskedModel(globalThis.courseModel);
    """
    results = run_node(script, "given.map((text) => network.run(text))", texts)
    for text, result in zip(texts, results, strict=True):
        for k, gap in enumerate(result["gaps"]):
            expected = shown(text, k, 1, 1)
            assert gap["place"] == expected.gaps[k]
            assert gap["logits"] == pytest.approx(expected.logits.tolist(), abs=1e-5), text
            assert gap["model"] == pytest.approx(expected.model.tolist(), abs=1e-6)
            if expected.exact is None:
                assert not gap.get("exact")
            else:
                assert gap["exact"] == pytest.approx(expected.exact.tolist(), abs=1e-12)
        for layer in range(config.layers):
            for head in range(config.heads):
                wanted = shown(text, 0, layer + 1, head + 1).weights
                weights = torch.tensor(result["weights"][layer][head], dtype=torch.float64)
                torch.testing.assert_close(weights, wanted, atol=1e-6, rtol=0)


def test_a_kernel_answers_with_the_bundle(monkeypatch):
    widget, sent = page_model(), []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: sent.append(content))
    widget._handle_custom_msg({"something": "else"}, [])
    assert sent == []
    widget._handle_custom_msg({"wanted": "model"}, [])
    assert sent == [{"model": page_bundle.bundle()}]


# --- the page -----------------------------------------------------------------------------------------------


def asked_for(page) -> list[str]:
    """The requests for the model, from now on."""
    asked = []
    page.on("request", lambda request: "course_model" in request.url and asked.append(request.url))
    return asked


def test_the_first_sentence_is_shown_before_the_model_is_there(page, show):
    asked = asked_for(page)
    for opened in show(page_model(), page_model([EXAMPLES[3]]), page_model([IMPOSSIBLE])):
        assert opened.differences() == []
        opened.panel.scroll_into_view_if_needed()
    assert not asked and not page.problems


def test_model_is_loaded_at_the_first_touch_and_once(page, show):
    asked = asked_for(page)
    first, second = show(page_model(), page_model())
    first.go(State(EXAMPLES[2]))
    second.go(State(EXAMPLES[0], 0, 1, 3))
    assert first.differences() == second.differences() == []
    assert len(set(asked)) == 1
    assert not page.problems


def test_a_refused_word_is_marked_opens_the_list_of_words_and_can_be_hidden(show):
    [model] = show(page_model())
    model.begin()
    known = model.panel.locator("details").first
    assert known.get_attribute("open") is None
    model.go(State("a menina costurou a manga"))
    assert model.differences() == []
    assert known.get_attribute("open") is not None and "costurou" in known.inner_text()
    model.panel.get_by_role("button", name="menina", exact=True).click()
    model.state = State("a [MASK] costurou a manga")
    assert model.differences() == []


def test_examples_fill_the_box(show):
    [model] = show(page_model())
    model.begin()
    for k in (2, 0, 1):
        model.choose("Exemplo", index=k)
        model.state = State(EXAMPLES[k])
        assert model.differences() == []


def test_a_model_that_does_not_arrive_is_said_in_words(page, show):
    [model] = show(page_model())
    script = page.locator("script[src*='bundles/widgets.js']")
    address = script.get_attribute("src")
    script.evaluate("script => script.setAttribute('src', 'nowhere/bundles/widgets.js')")
    model.panel.get_by_label(BOX, exact=True).focus()
    model.panel.get_by_text("O modelo não chegou.").wait_for()
    script.evaluate("(script, address) => script.setAttribute('src', address)", address)
    model.panel.get_by_role("button", name="Tentar de novo").click()
    model.begin()
    assert model.differences() == []


WITH_KERNEL = f"""async ([esm, state, bundle]) => {{{DRAW_ALONE}
  globalThis.sent = [];
  model.send = content => {{ sent.push(content); heard["msg:custom"]({{ model: bundle }}); }};
  module.default.render({{ model, el }});
  el.querySelector("input").focus();
}}"""


def test_where_there_is_no_script_the_kernel_is_asked(page):
    state = stored(page_model())
    page.goto("about:blank")
    page.evaluate(WITH_KERNEL, [state["_esm"], state, page_bundle.bundle()])
    page.locator("[data-ready]").wait_for()
    assert page.evaluate("() => globalThis.sent") == [{"wanted": "model"}]
    assert ModelPage(page.locator("body"), state).differences() == []
