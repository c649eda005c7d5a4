"""`python -m lib ajustar`: what it learns, what it shows beside, and that transformers opens it."""

import re

import pytest
import transformers

from lib.commands import baselines, main
from lib.commands.examples import Example
from lib.commands.fine_tune import Task, show
from lib.weights import load
from tests.lib.commands.conftest import OPINIONS

QUICK = ["--sementes", "3", "--epocas", "25", "--taxa", "0.01", "--silencioso"]


def shares(told: str) -> dict[str, float]:
    """The rows of the table of scores."""
    rows = re.findall(r"(?m)^  (\D+?) +(\d+\.\d)", told)
    return {name.strip(): float(value) for name, value in rows}


@pytest.mark.slow
def test_a_classifier_from_a_csv(tmp_path, masked, opinions, capsys):
    out = tmp_path / "classificador"
    assert main(["ajustar", str(opinions), "--modelo", str(masked), "--saida", str(out), *QUICK]) == 0
    told = capsys.readouterr().out
    assert "48 textos para estudar e 12 para a prova; 2 classes." in told and "± " in told
    assert shares(told)["a classe mais comum"] == 50
    assert shares(told)["saco de palavras (Bayes)"] == 100
    assert shares(told)["o modelo ajustado"] > shares(told)["a classe mais comum"]
    model, tokenizer = load(out)
    assert model.labels == ("bom", "ruim")
    ours = [model.labels[model(tokenizer.encode_batch([t]).ids).argmax()] for t, _ in OPINIONS[:20]]
    pipe = transformers.pipeline("text-classification", str(out))
    assert [row["label"] for row in pipe([t for t, _ in OPINIONS[:20]])] == ours


@pytest.mark.slow
def test_a_tagger_from_a_treebank(tmp_path, masked, treebank, capsys):
    out = tmp_path / "etiquetador"
    assert main(["ajustar", str(treebank), "--modelo", str(masked), "--saida", str(out), *QUICK]) == 0
    told = capsys.readouterr().out
    assert "3 etiquetas" in told and shares(told)["a mais comum da palavra"] == 100
    assert shares(told)["o modelo ajustado"] > shares(told)["a etiqueta mais comum"]
    assert load(out).model.labels == ("DET", "NOUN", "VERB")
    assert transformers.AutoModelForTokenClassification.from_pretrained(out).config.id2label[1] == "NOUN"


@pytest.mark.slow
def test_the_examination_may_be_a_file_of_its_own(tmp_path, masked, opinions, capsys):
    test = tmp_path / "prova.csv"
    test.write_text(
        "texto,rotulo\n" + f'"{OPINIONS[0][0]}",bom\n"O rato correu, e o gato dorme",ruim\n', encoding="utf-8"
    )
    options = ["--teste", str(test), "--saida", str(tmp_path / "novo"), *QUICK, "--sementes", "1"]
    assert main(["ajustar", str(opinions), "--modelo", str(masked), *options]) == 0
    told = capsys.readouterr().out
    assert "60 textos para estudar e 2 para a prova" in told and "1 textos da prova estão também" in told


def test_what_the_model_cannot_read_is_told(tmp_path, masked, capsys):
    path = tmp_path / "dados.csv"
    rows = "".join(f"Ж Ж Ж Ж {'gato ' * 40} {i},{'xy'[i % 2]}\n" for i in range(40))
    path.write_text("texto,rotulo\n" + rows, encoding="utf-8")
    options = ["--modelo", str(masked), "--saida", str(tmp_path / "novo"), "--epocas", "1", "--sementes", "1"]
    assert main(["ajustar", str(path), *options, "--silencioso"]) == 0
    told = capsys.readouterr().out
    assert "cortados em 32 tokens, o máximo que o modelo lê: 32." in told and "são [UNK]" in told


def test_a_model_that_beats_no_bar_is_said_to(capsys):
    task = Task("", 1, None, None, [], {"o acaso": 0.5, "saber": 0.75}, [])
    show(task, [0.75])
    assert "Não superou saber: tente" in capsys.readouterr().out
    show(task, [0.7, 0.85])
    assert "70.0% e 85.0%" in (told := capsys.readouterr().out) and "superou" not in told
    show(Task("", 1, None, None, [], {"saber": 1.0}, []), [1.0])
    assert "superou" not in capsys.readouterr().out, "there is nothing better to try for"


def test_naive_bayes_is_computed_as_by_hand(tokenizer):
    """P(x) = 2/3, and "gato" occurs 2 of 3 times in x and never in y: 3/5 against 1/3 with one added."""
    training = [Example("gato gato", "x"), Example("casa", "x"), Example("casa", "y")]
    known = [Example("gato", "x"), Example("casa", "y")]
    # casa: x has 2/3 * 2/5 = 0.267, y has 1/3 * 2/3 = 0.222, so the second is answered x.
    assert baselines.bag_of_words(training, known, tokenizer) == 0.5
    assert baselines.majority(["x", "x", "y"], ["x", "y", "y"]) == pytest.approx(1 / 3)


def test_sentences_that_the_model_cannot_read_whole_are_left_out_and_told(tmp_path, masked, treebank, capsys):
    exam = tmp_path / "prova.conllu"
    long = "\n".join("\t".join([str(i), "gato", "_", "NOUN", *"______"]) for i in range(1, 41))
    exam.write_text(treebank.read_text(encoding="utf-8") + long + "\n\n", encoding="utf-8")
    options = ["--teste", str(exam), "--saida", str(tmp_path / "novo"), "--epocas", "1", "--sementes", "1"]
    assert main(["ajustar", str(treebank), "--modelo", str(masked), *options, "--silencioso"]) == 0
    told = capsys.readouterr().out
    assert "24 frases para estudar e 24 para a prova" in told
    assert "deixadas de fora, por não caberem em 32 tokens: 1." in told
