"""What is said of Lighthouse follows from its figures; the control is a page's text and nothing else."""

import gzip
from urllib.request import Request, urlopen

from benchmarks import lighthouse
from tools.serve import serving


def audit(performance, seo=100):
    scores = {"performance": performance, "accessibility": 100, "best-practices": 100, "seo": seo}
    times = dict.fromkeys(lighthouse.TIMES, 1234.0)
    others = {"version": "1.2.3", "shift": 0.0125, "bytes": 56_789, "failed": []}
    return {"scores": scores, "times": times, **others}


def shown(*scores, seo=100):
    runs = [{"page": audit(score, seo), "control": audit(100)} for score in scores]
    return lighthouse.show({"pages": {"book/a.html": runs}})


def test_the_report_follows_from_the_values():
    text = shown(88, 96, 97)
    assert "Lighthouse 1.2.3, mobile; medians of 3 rounds." in text
    assert "| book/a.html | 96 | 100 | 100 | 100 | 1.2 | 1.2 | 1234 | 0.013 | 57 | 100 | 1.2 |\n" in text
    assert "the others: met by every page\n" in text and "- 95 in performance: 1 of 1 pages\n" in text


def test_a_missed_target_is_named():
    assert "MISSED by book/a.html" in shown(96, 89, 89)
    assert "MISSED by book/a.html" in shown(99, seo=99)
    assert "- 95 in performance: 0 of 1 pages\n" in shown(90)


def test_the_control_has_the_words_and_nothing_that_must_be_fetched(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(
        '<html><head><link rel="stylesheet" href="a.css"></head><body><nav>Menu</nav><article class="a">'
        '<div><h1 style="color: red">Título</h1></div><p>Com <b>força</b>: <math><mi>x</mi></math></p>'
        '<a href="b.html" class="c">fim</a><img src="d.png"><script>1</script></article></body></html>'
    )
    bare = lighthouse.without_style(path)
    assert '<article><h1>Título</h1><p>Com força: x</p><a href="b.html">fim</a></article>' in bare
    assert not any(word in bare for word in ("style", "script", "img", "Menu", "class"))


def test_what_compresses_is_sent_compressed(tmp_path):
    (tmp_path / "text.html").write_text("sim " * 1000)
    (tmp_path / "noise.png").write_bytes(gzip.compress(b"sim " * 1000))
    with serving(tmp_path, lighthouse.Compressing) as url:
        for name, encoding in (("text.html", "gzip"), ("noise.png", None)):
            with urlopen(Request(f"{url}/{name}", headers={"Accept-Encoding": "gzip"})) as answer:
                body = answer.read()
                assert answer.headers["Content-Encoding"] == encoding
                assert int(answer.headers["Content-Length"]) == len(body)
                whole = gzip.decompress(body) if encoding else body
                assert whole == (tmp_path / name).read_bytes()
