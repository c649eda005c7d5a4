"""`lib.project.text`: what is read, what is kept apart, what the card says, what is refused."""

import pytest

from lib.commands.console import Refusal
from lib.corpus.porttinari import load
from lib.project.text import (
    MANY_FILES,
    data_card,
    news,
    personal,
    read_text,
    shared_runs,
    shared_sentences,
    words_of,
)
from tests.lib.project.made_up import write_folder


def test_no_sentence_is_on_both_sides_or_comes_twice(tmp_path):
    folder = write_folder(tmp_path / "textos")
    first = (folder / "texto_00.txt").read_text(encoding="utf-8")
    (folder / "de_novo.txt").write_text(first, encoding="utf-8")
    text = read_text(folder, "inventado", "livre")
    everything = text.lessons + text.exam
    assert len(set(everything)) == len(everything) and text.exam
    once = read_text(write_folder(tmp_path / "outra"))
    assert text.repeated >= once.repeated + len(set(first.split(". "))) - 5
    assert (text.source, text.licence) == ("inventado", "livre")


def test_a_document_stays_whole(tmp_path):
    """Of many files each is a document; of few, each paragraph."""
    folder = write_folder(tmp_path / "textos", files=MANY_FILES, paragraphs=4)
    text = read_text(folder)
    sides = [{s for s in side} for side in (text.lessons, text.exam)]
    for path in folder.iterdir():
        said = path.read_text(encoding="utf-8").replace("\n\n", " ").split(". ")
        own = {f"{s.rstrip('.')}." for s in said}
        assert min(len(own & side) for side in sides) <= text.repeated, path
    assert len(text.training) + len(text.held_out) == MANY_FILES
    few = read_text(write_folder(tmp_path / "poucos"))
    assert len(few.training) + len(few.held_out) == 30


def test_the_news_are_apart_from_the_examination_of_the_task():
    text = read_text()
    test = {s.document for s in load("test")}
    articles = news()
    inside = {tuple(document) for document in text.training + text.held_out}
    assert test <= articles.keys() and not any(tuple(articles[name]) in inside for name in test)
    assert shared_sentences(text, text.lessons[:3]) == 3 and shared_sentences(text, ["nunca dita assim"]) == 0
    assert text.source.startswith("Porttinari") and text.licence.startswith("CC BY")


def test_the_card_counts(tmp_path):
    text = read_text(write_folder(tmp_path / "textos"), "", "")
    card = data_card(text)
    words = [w for s in text.lessons for w in words_of(s)]
    assert card["palavras de treino"] == f"{len(words)}, {len(set(words))} diferentes"
    assert card["fonte"] == str(tmp_path / "textos") and card["licença"] == "não declarada"
    assert str(card["frases"]).endswith(f"{len(text.exam)} para a prova")


def test_runs_of_words_that_both_sides_share():
    training = ["o gato dorme na casa da moça que viu o rato"]
    assert shared_runs(training, ["hoje o gato dorme na casa da moça feliz"], 8) == 0
    assert shared_runs(training, ["O gato, dorme na casa da moça que chegou"], 8) == 1 / 2
    assert shared_runs(training, ["curta demais"], 8) == 0


def test_what_is_personal_and_has_a_form():
    said = (
        "Ana (ana@exemplo.com), 11 98765-4321 ou 3456-7890, CPF 123.456.789-09; veja @ana e www.exemplo.com."
    )
    found = {"e-mails": 1, "telefones": 2, "CPFs": 1, "perfis com @": 1, "endereços da rede": 1}
    assert personal(said) == found
    assert not any(personal("Em 2017-2018 foram 1.234.567 votos, 10 mil a mais.").values())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "está vazio"),
        (b" \n\n ", "está vazio"),
        ("ação".encode("latin-1"), "não está em UTF-8"),
        (b"o gato dorme", "tem só 3 palavras; são precisas pelo menos"),
        (b"O gato dorme na casa. " * 200, "repete sempre as mesmas frases"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(tmp_path, content, sentence):
    path = tmp_path / "texto.txt"
    path.write_bytes(content)
    with pytest.raises(Refusal, match=sentence) as refused:
        read_text(path)
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")
    assert refused.value._render_traceback_() == [f"erro: {refused.value}"]


def test_a_folder_without_texts_and_a_file_that_is_not_there(tmp_path):
    for path, told in ((tmp_path, "nenhum arquivo .txt"), (tmp_path / "x.txt", "não existe")):
        with pytest.raises(Refusal, match=told):
            read_text(path)


def test_some_of_the_exam_come_from_all_over(tmp_path):
    text = read_text(write_folder(tmp_path / "textos", paragraphs=60))
    some = text.some_of_the_exam(5)
    places = [text.exam.index(s) for s in some]
    assert len(some) == 5 and places == sorted(places) and places[-1] > len(text.exam) // 2
    assert text.some_of_the_exam(10**6) == text.exam
