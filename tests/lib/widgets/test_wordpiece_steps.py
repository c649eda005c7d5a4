"""WordPiece step by step: its Python twin, and the page compared with it in a real browser."""

import json
import random
import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import expect

from lib.corpus import porttinari
from lib.tokenizer import Tokenizer
from lib.widgets.wordpiece_steps import (
    MAX_WORDS,
    shown,
    wordpiece_steps,
    words_of,
)
from tests.browser.chromium import PHONE, lasting, page_overflow
from tests.lib.widgets.shared import (
    HOSTILE,
    after_the_end,
    assert_accessible_in_every_look,
    assert_ends,
    assert_focus_is_visible,
    growth,
    move_focus,
    open_widgets,
    survivors,
    tab_stops,
)
from tests.lib.widgets.test_base import run_node

TRAINING = [str(sentence) for sentence in porttinari.load("dev")]
READERS = {
    "Com acentos": Tokenizer.train(TRAINING, 2000),
    "Sem acentos": Tokenizer.train(TRAINING, 1000, lowercase=True, strip_accents=True),
}
TEXTS = [
    "rapidamente",
    "Não, a avó e o avô não vão!",
    "O cãozinho LATE muito",
    "anticonstitucionalissimamente",
    "[CLS] o gato [MASK] na rede [SEP]",
    "e\u0301 pra\u00e7a prac\u0327a",
    "x" * 100,
    "x" * 101,
    "🙂 bom 日本 dia",
    "guarda-chuva d'água 3,14 R$10",
    "ΟΔΟΣ Straße İstanbul",
    "emoji👩‍👩‍👧 a\u00adb",
]
READ = """panel => {
  const texts = selector => [...panel.querySelectorAll(selector)].map(e => e.textContent);
  return {
    message: panel.querySelector(".cw-refused").textContent,
    words: texts("[data-word]"),
    tokens: texts("[data-token]"),
    ids: texts(".cw-tokens small").map(Number),
    chosen: [...panel.querySelectorAll("[data-word]")].findIndex(b => b.ariaPressed === "true"),
    place: texts(".cw-place span"),
    said: panel.querySelector("input[type=range]").getAttribute("aria-valuetext"),
    attempts: [...panel.querySelectorAll(".cw-attempts li")].map(
      li => [li.querySelector("[data-piece]").textContent, li.querySelector(".cw-symbol").textContent]),
    verdict: panel.querySelector(".cw-verdict").textContent,
  };
}"""


def widget(text=TEXTS[0]):
    return wordpiece_steps(READERS, text)


def set_step(panel, step):
    panel.locator("input[type=range]").evaluate(
        "(input, step) => { input.value = step; input.dispatchEvent(new Event('input')); }", step
    )


@lasting
def differences(panel, expected, chosen=0) -> list[str]:
    """Where the page does not say what `lib` computes."""
    page = panel.evaluate(READ)
    wanted = {"words": expected.words, "tokens": expected.tokens, "ids": expected.ids, "chosen": chosen}
    steps, word = expected.pieces.steps, expected.words[chosen]
    if steps:
        look = steps[expected.step - 1]
        wanted["place"] = [word[: look.start], word[look.start : look.stop], word[look.stop :]]
        wanted["said"] = f"passo {expected.step} de {len(steps)}"
        wanted["attempts"] = [[taken.piece, "✓" if taken.found else "✗"] for taken in expected.attempts]
    found = [
        f"{name}: page {page[name]}, lib {value}" for name, value in wanted.items() if page[name] != value
    ]
    if steps and expected.step == len(steps):
        looks = f"após {len(steps)} consulta"
        pieces = " ".join(expected.pieces.tokens)
        right = looks in page["verdict"] and pieces in page["verdict"]
    elif steps:
        right = page["verdict"] == (
            f"Pedaços até aqui: {' '.join(expected.found)}." if expected.found else "Nenhum pedaço ainda."
        )
    else:
        right = expected.pieces.tokens[0] in page["verdict"]
    return found if right else [*found, f"verdict: page {page['verdict']}, lib {expected.pieces}"]


# --- the twin -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", READERS)
def test_twin_gives_the_tokens_of_the_tokenizer(text, name):
    result = shown(text, READERS[name])
    assert result.tokens == READERS[name].tokenize(text)
    assert [READERS[name].vocabulary[i] for i in result.ids] == result.tokens


def test_accents_are_handled_as_the_tokenizer_handles_them():
    assert words_of("avó avô Não", READERS["Com acentos"]) == ["avó", "avô", "Não"]
    assert words_of("avó avô Não", READERS["Sem acentos"]) == ["avo", "avo", "nao"]


def run_words_of(texts, reader):
    code = wordpiece_steps(READERS).widget._esm.replace("export default { render };", "") + (
        "const [texts, reader] = JSON.parse(process.argv[1]);"
        "console.log(JSON.stringify(texts.map((text) => wordsOf(text, reader))));"
    )
    settings_only = {**reader, "vocabulary": []}
    # An argument of a command has a limit of 128 kB.
    calls = [json.dumps([texts[k : k + 3000], settings_only]) for k in range(0, len(texts), 3000)]
    return [words for call in calls for words in json.loads(run_node(code, call))]


@pytest.mark.parametrize("name", READERS)
def test_every_old_character_is_read_as_the_library_reads_it(name):
    # The library's own tables are of an older Unicode than a browser's: what both know is in Unicode 3.2.
    old = unicodedata.ucd_3_2_0.category
    known = [
        chr(c)
        for c in range(1, 0x10000)
        if not 0xD800 <= c < 0xF900 and old(chr(c)) == unicodedata.category(chr(c)) != "Cn"
    ]
    known = [c for c in known if not 0x3400 < ord(c) < 0xA000 or ord(c) % 50 == 0]  # ideographs: a sample
    texts = [f"a{c}b" for c in known]
    index = list(READERS).index(name)
    page = run_words_of(texts, wordpiece_steps(READERS).widget.readers[index])
    assert len(texts) > 9_000
    # One call for all of them, with a mark between: each call saves and loads the tokenizer.
    lib = iter(words_of("\n".join(f"{text}\nQ" for text in texts), READERS[name]))
    end = "Q" if name == "Com acentos" else "q"
    wrong = []
    for text, says in zip(texts, page, strict=True):
        expected = list(iter(lambda: next(lib), end))  # up to the mark
        if says != expected:
            wrong.append((text, says, expected))
    assert wrong == []


@settings(max_examples=6)
@given(
    st.lists(
        st.text("aáâãàeéêçoõuüñÑÇÃ \u0301\u0303\u0327\t.,!?-'\"0#[]MASKß", max_size=30),
        min_size=40,
        max_size=40,
    )
)
def test_random_texts_are_split_as_the_library_splits_them(texts):
    for reader, tokenizer in zip(wordpiece_steps(READERS).widget.readers, READERS.values(), strict=True):
        assert run_words_of(texts, reader) == [words_of(text, tokenizer) for text in texts]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: wordpiece_steps({}), TypeError, "tokenizers must be a Tokenizer or a mapping"),
        (lambda: wordpiece_steps({"x": "y"}), TypeError, "tokenizers must be a Tokenizer or a mapping"),
        (lambda: widget(""), ValueError, "text must hold 1 to 16 words, got 0"),
        (lambda: widget("a " * 17), ValueError, "text must hold 1 to 16 words, got 17"),
        (lambda: shown("a", READERS["Com acentos"], word=1), ValueError, r"word must lie in 0\.\.0, got 1"),
        (lambda: shown("a", READERS["Com acentos"], step=9), ValueError, r"step must lie in 0\.\..*, got 9"),
    ],
)
def test_bad_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_minilm_and_a_single_tokenizer_are_accepted():
    [reader] = wordpiece_steps(Tokenizer.minilm()).widget.readers
    assert reader["strip_accents"] and reader["lowercase"] and not reader["nfc"]
    assert len(reader["vocabulary"]) == 30_522


# --- the page is the twin -----------------------------------------------------------------------------------


def test_page_shows_what_lib_computes_in_48_states(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [widget()])
    rng = random.Random(2)
    for name, tokenizer in READERS.items():
        panel.get_by_label("Vocabulário", exact=True).select_option(label=name)
        for text in TEXTS:
            panel.get_by_label("Texto", exact=True).fill(text)
            assert differences(panel, shown(text, tokenizer)) == [], (name, text)
            word = rng.randrange(len(words_of(text, tokenizer)))
            panel.locator("[data-word]").nth(word).click()
            last = len(shown(text, tokenizer, word).pieces.steps)
            step = rng.randint(1, last) if last else 0
            if step:
                set_step(panel, step)
            assert differences(panel, shown(text, tokenizer, word, step), word) == [], (
                name,
                text,
                word,
                step,
            )
    assert not page.problems


def test_buttons_walk_through_every_step(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [widget()])
    tokenizer = READERS["Com acentos"]
    last = len(shown(TEXTS[0], tokenizer).pieces.steps)
    back = panel.get_by_role("button", name="Passo anterior")
    forward = panel.get_by_role("button", name="Próximo passo")
    expect(forward).to_be_disabled()
    assert last > 5
    for step in range(last - 1, 0, -1):
        back.click()
        assert differences(panel, shown(TEXTS[0], tokenizer, 0, step)) == []
    expect(back).to_be_disabled()
    forward.click()
    assert differences(panel, shown(TEXTS[0], tokenizer, 0, 2)) == []


def test_page_starts_in_the_state_it_was_given(page, tmp_path):
    panels = open_widgets(page, tmp_path, [widget(text) for text in TEXTS])
    for text, panel in zip(TEXTS, panels, strict=True):
        assert differences(panel, shown(text, READERS["Com acentos"])) == [], text


MUTATIONS = {
    "shortest first": (
        "stop = characters.length; stop > start; stop--",
        "stop = start + 1; stop <= characters.length; stop++",
    ),
    "no mark of continuation": ('(start ? CONTINUES : "")', '""'),
    "mark the first piece too": ('(start ? CONTINUES : "")', "CONTINUES"),
    "skip a character": ("start = stop)", "start = stop + 1)"),
    "keep the pieces before [UNK]": (
        "return { tokens: [UNKNOWN], steps };",
        "return { tokens: [...tokens, UNKNOWN], steps };",
    ),
    "no longest word": ("characters.length > longestWord", "characters.length > 1000"),
    "off by one at the longest word": ("characters.length > longestWord", "characters.length >= longestWord"),
    "keep the accents": ("if (stripAccents)", "if (false)"),
    "strip every accent": ("if (stripAccents)", "if (true)"),
    "keep the case": ("return lowercase ?", "return false ?"),
    "lower every case": ("return lowercase ?", "return true ?"),
    "no NFC": ('nfc ? text.normalize("NFC") : text', "text"),
    "final sigma": ('[...clean].map((c) => c.toLowerCase()).join("")', "clean.toLowerCase()"),
    "punctuation sticks": (".flatMap((word) => word.split(PUNCTUATION))", ""),
    "cut special tokens": ("if (SPECIAL.includes(part)) return [part];", ""),
    "ideographs stick": ('" $& "', '"$&"'),
    "UTF-16 units": ("const characters = [...word];\n  if", 'const characters = word.split("");\n  if'),
    "numbers from one": ("[token, id])", "[token, id + 1])"),
    "attempts of every place": ("({ start }) => start === steps[step - 1].start", "() => true"),
    "the step before": ("const look = steps[step - 1];", "const look = steps[step - 2];"),
}


def test_a_wrong_rule_in_the_javascript_is_caught(page, tmp_path):
    def difference(panel):
        for name, tokenizer in READERS.items():
            panel.get_by_label("Vocabulário", exact=True).select_option(label=name)
            for text in TEXTS:
                panel.get_by_label("Texto", exact=True).fill(text)
                if found := differences.at_once(panel, shown(text, tokenizer)):
                    return found
        return []

    assert survivors(page, tmp_path, widget, MUTATIONS, difference) == []


# --- keyboard, phone, dark, neighbours, hostile text --------------------------------------------------------


def test_everything_works_by_keyboard_alone(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [widget("avó rapidamente")])
    tokenizer = READERS["Com acentos"]
    stops = ["Vocabulário", "Texto", "avó", "rapidamente"]
    assert tab_stops(page, 4) == stops
    page.keyboard.press("Enter")
    last = len(shown("rapidamente", tokenizer).pieces.steps)
    assert differences(panel, shown("avó rapidamente", tokenizer, 1), 1) == []
    move_focus(page)
    page.keyboard.press("Space")
    assert differences(panel, shown("avó rapidamente", tokenizer, 1, last - 1), 1) == []
    move_focus(page)
    page.keyboard.press("Home")
    assert differences(panel, shown("avó rapidamente", tokenizer, 1, 1), 1) == []
    assert_focus_is_visible(page)


def test_no_accessibility_violation_before_and_after_use(page, tmp_path):
    panel, other = open_widgets(page, tmp_path, [widget(TEXTS[1]), widget()])
    assert_accessible_in_every_look(page)
    panel.get_by_label("Texto", exact=True).fill(TEXTS[6])
    set_step(panel, 3)
    other.get_by_label("Texto", exact=True).fill(" ")
    assert_accessible_in_every_look(page)
    assert not page.problems


def test_two_widgets_do_not_interfere(page, tmp_path):
    left, right = open_widgets(page, tmp_path, [widget(), widget(TEXTS[2])])
    left.get_by_label("Vocabulário", exact=True).select_option(label="Sem acentos")
    left.get_by_label("Texto", exact=True).fill(TEXTS[1])
    assert differences(left, shown(TEXTS[1], READERS["Sem acentos"])) == []
    assert differences(right, shown(TEXTS[2], READERS["Com acentos"])) == []
    right.locator("[data-word]").nth(1).click()
    assert differences(right, shown(TEXTS[2], READERS["Com acentos"], 1), 1) == []
    assert differences(left, shown(TEXTS[1], READERS["Sem acentos"])) == []


def test_typed_text_is_text_never_markup(new_page, tmp_path):
    page = new_page(viewport=PHONE)
    [panel] = open_widgets(page, tmp_path, [widget()])
    tokenizer = READERS["Com acentos"]
    refused = 0
    for text in [*HOSTILE, '<img src=x onerror="a">', "<b>oi</b>"]:
        panel.get_by_label("Texto", exact=True).fill(text)
        typed = panel.get_by_label("Texto", exact=True).input_value()
        count = len(words_of(typed, tokenizer))
        if 1 <= count <= MAX_WORDS:
            assert differences(panel, shown(typed, tokenizer)) == [], text
        else:
            refused += 1
            message = f"São {count} palavras" if count else "Escreva pelo menos uma"
            expect(panel.locator(".cw-refused")).to_have_text(re.compile(f"^{message}"))
            says = panel.evaluate(READ)
            assert says["tokens"] == [] and says["words"] == []
        assert panel.locator("img, script, b").count() == 0
        assert page_overflow(page) == 0
    assert refused >= 3 and page.evaluate("window.attacked") is None
    panel.get_by_label("Texto", exact=True).fill(TEXTS[1])
    assert differences(panel, shown(TEXTS[1], tokenizer)) == []
    assert not page.problems


# --- nothing is left behind ---------------------------------------------------------------------------------


CHANGE = """(panel, k) => {
  const [text, range] = panel.querySelectorAll(".cw input");
  const input = k % 2 ? range : text;
  input.value = k % 2 ? 1 + k % 5 : ["rapidamente", "avó e avô", "cãozinho"][k % 3];
  input.dispatchEvent(new Event("input"));
}"""


def test_200_changes_leak_no_nodes_and_no_listeners(new_page, tmp_path):
    page = new_page(fresh=True)
    [panel] = open_widgets(page, tmp_path, [widget()])
    nodes, listeners = growth(page, panel, CHANGE)
    assert listeners <= 0
    assert nodes <= 150, "the attempts of earlier words left behind would be thousands"


def test_listeners_and_observers_end_with_the_view(page):
    poke = "el => [...el.querySelectorAll('button')].find(b => b.textContent === 'Passo anterior').click()"
    assert_ends(after_the_end(page, widget().widget, poke))
