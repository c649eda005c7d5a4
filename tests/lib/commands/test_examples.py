"""Labelled examples: read as they were written, split so that nothing is on both sides."""

import pytest

from lib.commands.examples import Example, read_csv, read_treebank, split_by_class, split_by_document
from lib.corpus.porttinari import TaggedSentence


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_every_separator_and_mark_is_read(tmp_path, separator, encoding):
    path = tmp_path / "dados.csv"
    rows = (
        ["Texto", "nota", "Rótulo"],
        ['"vi, ouvi; ""gostei"""', "9", "bom"],
        ["não\tvi".replace("\t", " "), "", "ruim"],
    )
    path.write_text("\r\n".join(separator.join(row) for row in rows), encoding=encoding, newline="")
    assert read_csv(path).examples == [Example('vi, ouvi; "gostei"', "bom"), Example("não vi", "ruim")]
    assert read_csv(path, label="nota").examples == [Example('vi, ouvi; "gostei"', "9")]


def test_a_text_between_quotes_may_have_lines(tmp_path):
    path = tmp_path / "dados.csv"
    path.write_text('a,b\n"uma linha\noutra linha",x\n', encoding="utf-8")
    table = read_csv(path)
    assert table.examples == [Example("uma linha\noutra linha", "x")]
    assert table.notes == ["Texto da coluna 'a', rótulo da coluna 'b'."]


def test_what_is_left_out_is_told(tmp_path):
    path = tmp_path / "dados.csv"
    path.write_text("texto,rotulo\num,x\num,y\n,x\ndois,\ntrês,x\n", encoding="utf-8")
    table = read_csv(path)
    assert table.examples == [Example("um", "x"), Example("três", "x")], "the first of each text, in order"
    assert table.notes[1].startswith("2 linhas sem texto") and table.notes[2].startswith("1 textos repetidos")


def test_the_split_keeps_the_shares_of_the_classes():
    examples = [Example(f"t{i}", "a" if i % 4 else "b") for i in range(100)]
    training, examined = split_by_class(examples)
    assert sorted(training + examined) == sorted(examples) and not set(training) & set(examined)
    assert sum(e.label == "b" for e in examined) == 5 and len(examined) == 20


@pytest.mark.parametrize("documents", [10, 1])
def test_no_document_is_on_both_sides_where_there_are_enough(documents):
    sentences = [TaggedSentence(f"{i}", f"doc{i % documents}", (f"w{i}",), ("X",)) for i in range(50)]
    training, examined = split_by_document(sentences)
    assert len(training) == 40 and len(examined) == 10
    assert documents == 1 or not {s.document for s in training} & {s.document for s in examined}


def test_a_treebank_is_read(treebank):
    sentences = read_treebank(treebank)
    assert len(sentences) == 24 and sentences[0].words == ("o", "gato", "dorme")
