"""Two builds are compared file by file."""

from tools.build_book import differences


def test_what_differs_is_named(tmp_path):
    for name in "ab":
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "same.html").write_text("igual")
        (tmp_path / name / "deep" / "other.html").write_text("igual")
    a, b = tmp_path / "a", tmp_path / "b"
    assert differences(a, b) == []
    (b / "deep" / "other.html").write_text("outro")
    (b / "more.html").touch()
    assert differences(a, b) == ["deep/other.html", "more.html"] == differences(b, a)
