"""Reading the treebank: contractions as they are written, a split by document, errors that name the cause."""

import re
from collections import Counter

import pytest

from lib.corpus import porttinari

SAMPLE = """# sent_id = FOLHA_DOC000007_SENT001
# text = Ela gostou da casa.
1	Ela	ela	PRON	_	_	_	_	_	_
2	gostou	gostar	VERB	_	_	_	_	_	_
3-4	da	_	_	_	_	_	_	_	_
3	de	de	ADP	_	_	_	_	_	_
4	a	o	DET	_	_	_	_	_	_
5	casa	casa	NOUN	_	_	_	_	_	_

# sent_id = FOLHA_DOC000007_SENT002
1	De	de	ADP	_	_	_	_	_	_
2	as	o	DET	_	_	_	_	_	_
3	casas	casa	NOUN	_	_	_	_	_	_
4	em	em	ADP	_	_	_	_	_	_
5	aquela	aquele	DET	_	_	_	_	_	_
6	rua	rua	NOUN	_	_	_	_	_	_
7	a	a	ADP	_	_	_	_	_	_
8	a	o	DET	_	_	_	_	_	_
9	direita	direita	NOUN	_	_	_	_	_	_
"""


@pytest.fixture(scope="module")
def splits():
    return {split: porttinari.load(split) for split in porttinari.SPLITS}


def test_contractions_as_written_and_by_rule(tmp_path):
    path = tmp_path / "sample.conllu"
    path.write_text(SAMPLE, encoding="utf-8")
    written, by_rule = porttinari.read_conllu(path)
    assert str(written) == "Ela gostou da casa"
    assert written.tags == ("PRON", "VERB", "ADP+DET", "NOUN")
    assert written.document == "FOLHA_DOC000007"
    assert str(by_rule) == "Das casas naquela rua à direita"
    assert by_rule.tags[0] == "ADP+DET"


def test_the_rules_give_back_what_the_treebank_wrote():
    """Take apart every sentence whose written form is known, join it by rule, and compare."""
    right = wrong = 0
    for rows in _rows(porttinari.corpus_path("porttinari")):
        ranges = [row for row in rows if "-" in row[0]]
        parts = [(int(row[0]), row[1], row[3]) for row in rows if row[0].isdigit()]
        if ranges:
            expected = porttinari._as_written(ranges, parts)
            same = porttinari._contracted([part[1:] for part in parts]) == expected
            right, wrong = right + same, wrong + (not same)
    assert right + wrong > 4000
    assert right / (right + wrong) > 0.98


def _rows(path):
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if line and not line.startswith("#")]
        if rows:
            yield rows


def test_no_contraction_is_left_apart(splits):
    text = "\n".join(str(s).lower() for sentences in splits.values() for s in sentences)
    joined = len(re.findall(r"\b(do|da|no|na|pelo|pela)\b", text))
    apart = len(re.findall(r"\b(de o|de a|em o|em a|por o)\b", text))
    assert joined > 6000
    assert apart < 0.01 * joined  # what stays: "de o presidente dizer", a subject of its own


def test_split_is_fixed_disjoint_and_by_document(splits):
    sizes = {split: len(sentences) for split, sentences in splits.items()}
    assert sizes == {"train": 6793, "dev": 688, "test": 899}
    documents = {split: {s.document for s in sentences} for split, sentences in splits.items()}
    assert not documents["train"] & documents["dev"]
    assert not documents["train"] & documents["test"]
    assert not documents["dev"] & documents["test"]
    texts = Counter(s.words for sentences in splits.values() for s in sentences)
    assert max(texts.values()) == 1


def test_tags_are_universal(splits):
    tags = {part for s in splits["train"] for tag in s.tags for part in tag.split("+")}
    universal = {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PRON", "PROPN", "PUNCT"}
    universal |= {"SCONJ", "SYM", "VERB", "X"}
    assert tags == universal
    assert all(len(s.words) == len(s.tags) and all(s.words) for s in splits["train"])


def test_petrogold_is_there_only_for_who_asks():
    sentences = porttinari.load("dev", corpus="petrogold")
    assert len(sentences) > 300
    assert {s.document for s in sentences}.isdisjoint(
        {s.document for s in porttinari.load("test", "petrogold")}
    )


def test_bad_arguments_are_named(tmp_path):
    with pytest.raises(ValueError, match="split"):
        porttinari.load("validation")
    with pytest.raises(ValueError, match="corpus"):
        porttinari.corpus_path("bosque")
    broken = tmp_path / "broken.conllu"
    broken.write_text("1\tcasa\tNOUN\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 1"):
        list(porttinari.read_conllu(broken))
