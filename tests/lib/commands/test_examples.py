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
    path.write_text("texto,rotulo\num,x\num,x\n,x\ndois,\ntrês,x\n", encoding="utf-8")
    table = read_csv(path)
    assert table.examples == [Example("um", "x"), Example("três", "x")], "the first of each text, in order"
    assert table.notes[1] == "Linhas sem texto ou sem rótulo, deixadas de fora: 2."
    assert table.notes[2].startswith("Textos repetidos") and table.notes[2].endswith("partes: 1.")


def test_a_text_with_two_labels_is_told(tmp_path):
    path = tmp_path / "dados.csv"
    path.write_text("texto,rotulo\num,x\num,y\num,x\n", encoding="utf-8")
    table = read_csv(path)
    assert table.examples == [Example("um", "x")]
    assert table.notes[1].endswith("partes: 2; com um rótulo diferente do primeiro: 1.")


# The same two examples, as programs and people write them.
WRITTEN = {
    "a line that names the separator": "sep=;\ntexto;rotulo\num;x\ndois;y\n",
    "empty lines before the header": "\n \ntexto;rotulo\num;x\ndois;y\n",
    "lines of an old Mac": "texto;rotulo\rum;x\rdois;y\r",
    "the label first": "rotulo;texto\nx;um\ny;dois\n",
    "the label first, and no name for the text": "rotulo;comentário\nx;um\ny;dois\n",
    "the text last, and no name for the label": "nota;texto\nx;um\ny;dois\n",
    "a separator inside a name": '"texto, livre";rotulo\num;x\ndois;y\n',
    "separators after the last column": "texto;rotulo;\num;x;\ndois;y;\n",
}


@pytest.mark.parametrize("way", WRITTEN)
def test_a_table_is_read_as_people_have_it(tmp_path, way):
    path = tmp_path / "dados.csv"
    path.write_text(WRITTEN[way], encoding="utf-8", newline="")
    assert read_csv(path).examples == [Example("um", "x"), Example("dois", "y")]


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
