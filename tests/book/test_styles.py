"""The one style sheet: what nothing in the book can show is cut, and no reader sees a difference."""

import re

import pytest

from tests.browser.chromium import DESKTOP, PHONE, change_look, load
from tools.console import ROOT

PAGE = (
    '<html data-theme="dark"><body><p class="note" id="a" title="t"><b style="color: var(--inline)">x</b></p>'
)
# Each rule, and whether it stays.
RULES = {
    "p.note, p.other > b { color: red }": "p.note{color:red}",
    "#a b:hover::before { margin: 0 }": "#a b:hover::before{margin:0}",
    "#missing { margin: 0 }": "",
    "i { margin: 0 }": "",
    "p:not(.other) { margin: 0 }": "p:not(.other){margin:0}",
    "p:is(.note, .other) { margin: 0 }": "p:is(.note, .other){margin:0}",
    "p:is(.other, .another) { margin: 0 }": "",
    "[title] { margin: 0 }": "[title]{margin:0}",
    "[hidden] { margin: 0 }": "",
    ".added { margin: 0 !important }": ".added{margin:0!important}",
    "@media print { .other { margin: 0 } }": "",
    "@media print { .note { margin: 0 } }": "@media print{.note{margin:0}\n}",
    "b { --asked: 1; --next: 2; --old: var(--end); --end: 3; --inline: 4; top: var(--asked, var(--next)) }": (
        "b{--asked:1;--next:2;--inline:4;top:var(--asked, var(--next))}"
    ),
    "/* words */ b { /* more */ background: url('data:a,b;c') }": 'b{background:url("data:a,b;c")}',
    "@font-face { src: url(fonts/a.woff) }": '@font-face{src:url("deep/fonts/a.woff")}',
    "@keyframes move { from { top: 0 } to { top: 1px } }": "@keyframes move{from{top:0}\nto{top:1px}\n}",
}


@pytest.fixture
def styles(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    import course_styles

    return course_styles


@pytest.fixture
def known(styles):
    known = styles.Known()
    known.add_page(PAGE)
    known.add_words('element.classList.add("added")')
    return known


@pytest.mark.parametrize(("rule", "kept"), RULES.items(), ids=range(len(RULES)))
def test_a_rule_stays_if_something_can_show_it(rule, kept, styles, known, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "sheet.css").write_text(rule)
    (tmp_path / "all.css").write_text('@import "deep/sheet.css";')
    head, _, text = styles.bundle(tmp_path, ["all.css"], known).partition("\n")
    assert head == "/* Cut to what the book shows from: all.css */"
    assert text.strip().replace("url(deep", 'url("deep').replace("woff)", 'woff")') == kept


@pytest.mark.parametrize("sheet", ["p { color: red", "p { b { top: 0 } }", "@import url(a.css);"])
def test_what_is_not_understood_is_not_cut_but_refused(sheet, styles, known, tmp_path):
    (tmp_path / "a.css").write_text(sheet)
    if sheet.endswith("red"):  # the end of a file closes what is open
        assert "p{color:red}" in styles.bundle(tmp_path, ["a.css"], known)
    else:
        with pytest.raises(ValueError, match="style sheet"):
            styles.bundle(tmp_path, ["a.css"], known)


# Every property of every element, and of what stands before and after it. Custom ones show nothing.
LOOK = """() => {
  const properties = [...getComputedStyle(document.body)].filter(name => !name.startsWith("--"));
  return [...document.querySelectorAll("body, body *")].flatMap(element => {
    return [null, "::before", "::after"].map(part => {
      const style = getComputedStyle(element, part);
      if (part && style.content === "none") return "";
      return properties.map(name => style.getPropertyValue(name)).join("|");
    });
  });
}"""
# What is far below is not laid out, and has no height to compare: here all is.
COMPARE = f"""async sheets => {{
  const look = {LOOK};
  const all = {{ textContent: "* {{ content-visibility: visible !important }}" }};
  document.head.append(Object.assign(document.createElement("style"), all));
  const cut = look();
  const link = document.querySelector("link[rel=stylesheet]");
  const make = href => Object.assign(document.createElement("link"), {{ rel: "stylesheet", href }});
  const arrival = sheet => new Promise((onload, onerror) => Object.assign(sheet, {{ onload, onerror }}));
  const whole = sheets.map(make), loaded = whole.map(arrival);
  link.before(...whole);
  await Promise.all(loaded);
  link.remove();
  await document.fonts.ready;
  await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  const before = look();
  const elements = [...document.querySelectorAll("body, body *")];
  const differing = cut.map((style, k) => style === before[k] ? null : elements[Math.floor(k / 3)]);
  const found = differing.filter(Boolean).map(e => `${{e.tagName}}.${{e.className}}`);
  return [cut.length, [...new Set(found)].slice(0, 20)];
}}"""


@pytest.mark.book
@pytest.mark.browser
@pytest.mark.parametrize(("viewport", "dark"), [(DESKTOP, False), (PHONE, True)], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["03_bert_block", "intro"])
def test_every_element_looks_as_with_the_whole_sheets(name, viewport, dark, new_page, book_url, book_dir):
    page = new_page()
    load(page, f"{book_url}/book/{name}.html")
    change_look(page, viewport, dark)
    named = re.search(r"from: (.*?) \*/", (book_dir / "_static" / "book.css").read_text(encoding="utf-8"))[1]
    count, differing = page.evaluate(COMPARE, [f"../_static/{sheet}" for sheet in named.split()])
    assert count > 500 and differing == []
