"""Every bad input: one sentence in Portuguese that says what is wrong, and nothing written or begun."""

import shutil

import pytest
import torch

from lib.commands import COMMANDS, main
from tests.lib.commands.conftest import OPINIONS, TEXT, TREEBANK
from tests.lib.test_weights_files import change_config, renamed

# What was given as the text of `treinar`, and what must be said of it.
TEXTS = {
    "empty": (b"", "está vazio"),
    "blank": (b" \n\n\t ", "está vazio"),
    "tiny": (b"duas palavras", "tem só 2 palavras"),
    "latin-1": (TEXT.encode("latin-1"), "byte 0xFA na posição 8 (linha 1)"),
    "cut": (TEXT.encode() + b"\n\xc3", f"byte 0xC3 na posição {len(TEXT.encode()) + 1} (linha 120)"),
    "utf-16": (TEXT.encode("utf-16"), "parece UTF-16"),
    "utf-16, no mark": (("a cat and a dog " * 50).encode("utf-16-le"), "byte nulo na posição 1"),
    "binary": (bytes(range(256)) * 9, "binário"),
    "one word": (b"palavra", "tem só uma palavra"),
    "one long word": (b"palavra" * 20_000, "tem só uma palavra"),
    "one sentence": ("Uma só frase não ensina ninguém.".encode(), "tem só 6 palavras"),
    "only controls": (b"\x01 \x02 " * 200, "nada que se possa ver"),
    "only zero-width spaces": (("\u200b " * 200).encode(), "nada que se possa ver"),
    "only words too long": ((("palavra" * 20 + " ") * 110 + "\n").encode() * 3, "100 caracteres"),
    "no pairs": (b"uma palavra e outra sem ponto " * 40, "pares de frases", "--objetivo", "mlm+nsp"),
    "one paragraph with pairs": (
        ("Uma frase. Outra frase.\n\n" + "Uma frase sozinha de outro assunto.\n\n" * 40).encode(),
        *("pares de frases", "--objetivo", "mlm+nsp"),
    ),
    "few letters": (TEXT.encode(), "caracteres diferentes", "--vocabulario", "10"),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_bad_text_is_refused_before_anything_is_written(tmp_path, kind, capsys):
    content, sentence, *options = TEXTS[kind]
    path = tmp_path / "ruim.txt"
    path.write_bytes(content)
    refused(["treinar", path, "--pasta", tmp_path / "run", *options], sentence, capsys)
    assert not (tmp_path / "run").exists()


CUT = [(text.replace(",", ""), label) for text, label in OPINIONS]
ROWS = "".join(f"{text},{label}\n" for text, label in CUT)
TABLES = {
    "empty": (b"", "está vazio"),
    "latin-1": (f"texto,rótulo\n{ROWS}".encode("latin-1"), "não está em UTF-8"),
    "no columns": ("\n".join(text.replace(",", "") for text, _ in OPINIONS).encode(), "uma só coluna"),
    "no such column": (f"texto,rotulo\n{ROWS}".encode(), "não tem a coluna 'nota'", "--rotulo", "nota"),
    "which column?": (("a,b,c\n" + "x,y,z\n" * 30).encode(), "há 'a', 'b', 'c': diga qual com --texto"),
    "the same column": (f"texto,b\n{ROWS}".encode(), "mesma coluna", "--rotulo", "texto"),
    "ragged": (f"texto,rotulo\n{ROWS}sobra,uma,coluna\n".encode(), "a linha 62 tem 3 colunas"),
    "open quotes": (f'texto,rotulo\n"{ROWS}'.encode(), "aspas que não se fecham"),
    "few": (b"texto,rotulo\na,b\nc,d\n", "poucos exemplos que servem: 2;"),
    "one class": (f"texto,rotulo\n{ROWS.replace('ruim', 'bom')}".encode(), "uma só classe, 'bom'"),
    "no header": (ROWS.encode(), "parece não ter cabeçalho: 'bom', na primeira linha, é um dos rótulos"),
    "the text in the other column": (
        ("nota,opinião\n" + "".join(f"{c},{t}\n" for t, c in CUT)).encode(),
        "servem: 2; são precisos pelo menos 20. Texto da coluna 'nota', rótulo da coluna 'opinião'. Textos",
    ),
    "a field too large": (f"{'a' * 140_000},rotulo\n{ROWS}".encode(), "um campo enorme"),
    "no classes": (
        ("texto,rotulo\n" + "".join(f"t{i},{i}\n" for i in range(40))).encode(),
        "40 classes em 40",
    ),
}


TREEBANKS = {
    "empty": ("", "nenhuma frase"),
    "few": (TREEBANK[:200].rpartition("\n\n")[0], "frases anotadas"),
    "columns": (TREEBANK.replace("\t_\t_", "\t_", 1), "a linha 1 tem 9"),
    "spaces": (TREEBANK.replace("\t", " "), "a linha 1 tem 1"),
    "no numbers": (TREEBANK.replace("1\t", "x\t").replace("2\t", "x\t").replace("3\t", "x\t"), "10 colunas"),
    "a byte order mark": ("\ufeff" + TREEBANK, "salve-o em UTF-8 sem ela"),
    "one tag": (TREEBANK.replace("NOUN", "DET").replace("VERB", "DET"), "uma só etiqueta, 'DET'"),
}


EXAMPLES = {f"{kind}, .csv": case for kind, case in TABLES.items()}
EXAMPLES |= {f"{kind}, .conllu": (text.encode(), told) for kind, (text, told) in TREEBANKS.items()}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_bad_examples_are_refused_before_any_training(tmp_path, masked, kind, capsys):
    content, sentence, *options = EXAMPLES[kind]
    path = tmp_path / f"ruim{kind.rpartition(' ')[2]}"
    path.write_bytes(content)
    refused(["ajustar", path, "--modelo", masked, "--saida", tmp_path / "novo", *options], sentence, capsys)
    assert not (tmp_path / "novo").exists()


def damage(name: str, content: bytes | None):
    def do(folder):
        (folder / name).unlink() if content is None else (folder / name).write_bytes(content)

    return do


MODELS = {
    "no folder": (shutil.rmtree, "não há a pasta de modelo"),
    "no settings": (damage("config.json", None), "não é a pasta de um modelo salvo"),
    "bad settings": (damage("config.json", b"{"), "o config.json está danificado"),
    "no weights": (damage("model.safetensors", None), "faltam os pesos"),
    "bad weights": (damage("model.safetensors", b"nada"), "o arquivo de pesos está danificado"),
    "no tokenizer": (damage("tokenizer.json", None), "não tem tokenizador"),
    "old tokenizer": (
        renamed("tokenizer.json", "vocab.json"),
        "o vocab.json dela, de um formato mais antigo, vira um com transformers: AutoTok",
    ),
    "bad tokenizer": (damage("tokenizer.json", b"{}"), "o tokenizador não pode ser lido"),
    "weights by another name": (
        renamed("model.safetensors", "meu.safetensors"),
        "os pesos estão em meu.safetensors, que deve chamar-se model.safetensors",
    ),
    "weights of TensorFlow": (renamed("model.safetensors", "tf_model.h5"), "em tf_model.h5, são de outra"),
    "a list of shards that is none": (
        renamed("model.safetensors", "model.safetensors.index.json"),
        "o índice das partes dos pesos está danificado",
    ),
    "another kind": (change_config(model_type="distilbert"), "é um distilbert, e só leio BERT, RoBERTa"),
    "no kind": (change_config(model_type=None), "o config.json não diz de que tipo ele é"),
    "another head": (
        change_config(architectures=["BertForMultipleChoice"]),
        "a cabeça de BertForMultipleChoice não é lida",
    ),
    "another activation": (change_config(hidden_act="silu"), "a sua ativação, silu, não é calculada"),
    "relative positions": (change_config(position_embedding_type="relative_key"), "só se calculam as absol"),
    "no number": (change_config(vocab_size="mil"), "dá a vocab_size um valor impossível"),
    "another size": (change_config(hidden_size=32), "os pesos não combinam com o config.json: embeddings."),
    "too many blocks": (change_config(num_hidden_layers=3), "falta encoder.layer.1."),
    "an odd size": (change_config(num_attention_heads=3), "não são os de um BERT"),
}


@pytest.mark.parametrize("kind", MODELS)
def test_a_bad_model_is_refused_by_every_command_that_opens_one(
    tmp_path, masked, text, opinions, kind, capsys
):
    harm, sentence = MODELS[kind]
    folder = shutil.copytree(masked, tmp_path / "copia")
    harm(folder)
    for arguments in (
        ["preencher", "a [MASK]", "--modelo", folder],
        ["avaliar", text, "--modelo", folder],
        ["ajustar", opinions, "--modelo", folder, "--saida", tmp_path / "novo"],
        ["exportar", "--modelo", folder, "--saida", tmp_path / "novo"],
        ["treinar", text, "--de", folder, "--pasta", tmp_path / "novo"],
    ):
        refused(arguments, sentence, capsys)
    assert not (tmp_path / "novo").exists()


def test_what_cannot_be_asked_is_refused(tmp_path, masked, causal, text, opinions, treebank, capsys):
    novo, cheia, grammar = tmp_path / "novo", tmp_path / "cheia", tmp_path / "gramatica.txt"
    cheia.mkdir()
    (cheia / "algo").touch()
    grammar.write_text("S -> S a", encoding="utf-8")
    (tmp_path / "vazia").mkdir()
    for arguments, sentence in (
        (["treinar", tmp_path / "nada.txt"], "nada.txt: não existe"),
        (["treinar", tmp_path / "vazia"], "não tem nenhum arquivo .txt"),
        (["treinar", text, "--gramatica", text], "não os dois"),
        (["treinar", "--gramatica", grammar], "a gramática"),
        (["treinar", "--tokenizador", text], "precisa de um texto"),
        (["treinar", text, "--tokenizador", text], "não é um tokenizer.json"),
        (["treinar", text, "--de", masked, "--largura", "32"], "--largura e --de não vão juntos"),
        (["treinar", text, "--de", masked, "--vocabulario", "90"], "--vocabulario e --de não vão juntos"),
        (["treinar", text, "--de", masked, "--comprimento", "33"], "o modelo de partida lê até 32 tokens"),
        (["treinar", "--comprimento", "20"], "--comprimento precisa de um texto"),
        (
            ["treinar", text, "--objetivo", "causal", "--ocultar", "palavras"],
            "--ocultar não vale com --objetivo causal",
        ),
        (["treinar", text, "--largura", str(2**40), "--pasta", novo.parent / "g"], "a memória desta máquina"),
        (["treinar", text, "--largura", "15"], "--largura 15 deve ser divisível por --cabecas 4"),
        (["treinar", text, "--passos", "0"], "--passos: deve ser um inteiro de pelo menos 1; veio '0'"),
        (
            ["treinar", text, "--lote", "99999999"],
            "--lote: deve ser um inteiro de pelo menos 1 e no máximo 65536; veio '99999999'",
        ),
        (["treinar", text, "--passos", "dez"], "veio 'dez'"),
        (["treinar", text, "--passos"], "--passos precisa de um valor"),
        (["treinar", text, "--semente", "-1"], "--semente"),
        (["treinar", text, "--taxa", "nan"], "--taxa: deve ser um número maior que 0"),
        (["treinar", text, "--dropout", "1"], "--dropout: deve ser um número de 0 até menos que 1"),
        (["treinar", text, "--objetivo", "gpt"], "--objetivo: deve ser mlm, mlm+nsp, causal; veio 'gpt'"),
        (["treinar", text, "--steps", "3"], "não conheço --steps 3"),
        (["treinar", "--de", masked], "não tem as palavras da gramática"),
        (["preencher", "a manga madura", "--modelo", masked], "não tem [MASK]"),
        (["preencher", "a [MASK]"], "falta dizer: --modelo"),
        (["preencher", "a [MASK]", "--modelo", causal], "não preenche lacunas: é um modelo causal"),
        (
            ["preencher", "[MASK] " * 40, "--modelo", masked],
            "longa demais: tem 42 tokens, e o modelo lê até 32",
        ),
        (["avaliar", "--modelo", masked], "não tem as palavras da gramática"),
        (["avaliar", text, "--gramatica", grammar, "--modelo", masked], "não os dois"),
        (["ajustar", tmp_path / "nada.csv", "--modelo", masked, "--saida", novo], "nada.csv: não existe"),
        (["ajustar", opinions, "--modelo", masked, "--saida", cheia], "já existe e não está vazia"),
        (["ajustar", opinions, "--modelo", causal, "--saida", novo], "é causal: o seu [CLS] não vê o texto"),
        (["ajustar", opinions, "--modelo", text, "--saida", novo], "gatos.txt é um arquivo; um modelo é uma"),
        (["ajustar", opinions, "--modelo", masked], "falta dizer: --saida"),
        (["exportar", "--modelo", masked, "--saida", text], "já existe"),
        (["trienar", text], "não há o comando 'trienar'; você quis dizer treinar?"),
        (["voar"], "há treinar, preencher, avaliar, ajustar, exportar"),
    ):
        refused(arguments, sentence, capsys)
    assert not novo.exists()


def test_a_disk_without_room_is_refused_before_any_training(tmp_path, masked, opinions, capsys, monkeypatch):
    free = type("Usage", (), {"free": 2**10})
    monkeypatch.setattr("lib.commands.export.disk_usage", lambda _: free)
    for arguments in (["exportar"], ["ajustar", opinions]):
        given = [*arguments, "--modelo", masked, "--saida", tmp_path / "longe" / "novo"]
        refused(given, "há 0.0 MB livres, e o modelo ocupa 0.0", capsys)
    assert not (tmp_path / "longe").exists()


ENGLISH = ("argument", "usage", "must", "expected", "error", "invalid", "required", "got ", "file", "option")


def refused(arguments: list, sentence: str, capsys) -> None:
    """The command ends with 2 and one Portuguese sentence that holds `sentence`, and trains nothing."""
    made = torch.optim.Optimizer.__init__

    def trains(*_, **__):
        raise AssertionError("it began to train")

    torch.optim.Optimizer.__init__ = trains
    try:
        code = main([str(argument) for argument in arguments])
    finally:
        torch.optim.Optimizer.__init__ = made
    told = capsys.readouterr()
    assert code == 2 and sentence in told.err, told.err
    assert told.err.startswith("erro: ") and told.err.count("\n") == 1 and not told.out
    assert not any(f" {word}" in told.err for word in ENGLISH), told.err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_in_portuguese_and_shows_every_default(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    told = capsys.readouterr().out
    assert end.value.code == 0 and told.startswith(f"uso: python -m lib {command}")
    assert not any(word in told for word in ("usage", "options:", "positional", "show this", "None"))
    options = [line for line in told.split("\n  -")[1:]]
    silent = ("-help", "-silencioso", "-float16", "-modelo", "-saida", "-gramatica", "-teste", "h, --help")
    assert [o for o in options if "padrão" not in o and not o.startswith(silent)] == []


def test_without_a_command_it_says_what_there_is(capsys):
    assert main([]) == 0
    told = capsys.readouterr().out
    assert all(f"\n  {command} " in told for command in COMMANDS)
