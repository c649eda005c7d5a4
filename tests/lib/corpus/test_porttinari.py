"""Reading the treebank: contractions as they are written, a split by document, errors that name the cause."""

import re
from collections import Counter

import pytest

from lib.corpus import porttinari

SAMPLE = [
    "Ela/PRON gostou/VERB da/_ de/ADP a/DET casa/NOUN",  # "da" is the contraction of the two that follow
    "De/ADP as/DET casas/NOUN em/ADP aquela/DET rua/NOUN a/ADP a/DET direita/NOUN",
]


def conllu(number: int, tagged: str) -> str:
    """The sentence in ten columns; a word without a tag stands for the two after it, as "3-4"."""
    rows, place = [f"# sent_id = FOLHA_DOC000007_SENT00{number}"], 1
    for word, tag in (pair.split("/") for pair in tagged.split()):
        index = f"{place}-{place + 1}" if tag == "_" else str(place)
        rows.append("\t".join((index, word, "_", tag, *"______")))
        place += tag != "_"
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def splits():
    return {split: porttinari.load(split) for split in porttinari.SPLITS}


def test_contractions_as_written_and_by_rule(tmp_path):
    path = tmp_path / "sample.conllu"
    path.write_text("\n".join(map(conllu, (1, 2), SAMPLE)), encoding="utf-8")
    written, by_rule = porttinari.read_conllu(path)
    assert str(written) == "Ela gostou da casa"
    assert written.tags == ("PRON", "VERB", "ADP+DET", "NOUN")
    assert written.document == "FOLHA_DOC000007"
    assert str(by_rule) == "Das casas naquela rua à direita"
    assert by_rule.tags[0] == "ADP+DET"


def test_the_rules_give_back_what_the_treebank_wrote():
    """Take apart every sentence whose written form is known, join it by rule, and compare."""
    right = wrong = 0
    for rows in _rows(porttinari.corpus_path()):
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
    documents = Counter(d for sentences in splits.values() for d in {s.document for s in sentences})
    texts = Counter(s.words for sentences in splits.values() for s in sentences)
    assert max(documents.values()) == max(texts.values()) == 1


def test_tags_are_universal(splits):
    tags = {part for s in splits["train"] for tag in s.tags for part in tag.split("+")}
    universal = {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PRON", "PROPN", "PUNCT"}
    universal |= {"SCONJ", "SYM", "VERB", "X"}
    assert tags == universal
    assert all(len(s.words) == len(s.tags) and all(s.words) for s in splits["train"])


def test_the_other_corpora_are_text():
    for corpus, least in {"petrogold": 9000, "dantestocks": 4000, "danteshots": 7000}.items():
        text = porttinari.other_text(corpus)
        assert len(text) > least and all(text)


def test_bad_arguments_are_named(tmp_path):
    with pytest.raises(ValueError, match="split"):
        porttinari.load("validation")
    with pytest.raises(ValueError, match="corpus"):
        porttinari.other_text("porttinari")
    broken = tmp_path / "broken.conllu"
    broken.write_text("1\tcasa\tNOUN\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 1"):
        list(porttinari.read_conllu(broken))
