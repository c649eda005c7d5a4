"""A text, and tiny models that were trained on it, for the tests of the commands."""

from pathlib import Path

import pytest
import torch
import transformers

from lib.encoder import Config
from lib.heads import CausalLM, MaskedLM
from lib.tokenizer import Tokenizer
from lib.weights import save

TEXT = "\n\n".join(
    f"O gato número {i} dorme na casa. A gata {i} viu o rato ontem, e o rato correu." for i in range(60)
)
SIZES = {"d": 16, "layers": 1, "heads": 2, "positions": 32}


@pytest.fixture
def text(tmp_path) -> Path:
    path = tmp_path / "gatos.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return Tokenizer.train([TEXT], 150)


@pytest.fixture(scope="session")
def masked(tmp_path_factory, tokenizer) -> Path:
    """The folder of a masked model, with the weights that it began with."""
    torch.manual_seed(0)
    model = MaskedLM(Config(tokenizer.size, pooler=False, **SIZES))
    return save(tmp_path_factory.mktemp("masked") / "modelo", model, tokenizer)


@pytest.fixture(scope="session")
def causal(tmp_path_factory, tokenizer) -> Path:
    model = CausalLM(Config(tokenizer.size, pooler=False, causal=True, **SIZES))
    return save(tmp_path_factory.mktemp("causal") / "modelo", model, tokenizer)


@pytest.fixture
def published(tmp_path, tokenizer) -> Path:
    """A small BERT as the first ones were published: weights in .bin, words in vocab.txt."""
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    torch.manual_seed(1)
    model = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=tokenizer.size, **sizes))
    model.config.save_pretrained(folder := tmp_path / "publicado")
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    (folder / "vocab.txt").write_text("\n".join(tokenizer.vocabulary), encoding="utf-8")
    return folder


OPINIONS = [
    (f"{begin} o gato número {i}, {end}", label)
    for i in range(30)
    for begin, end, label in (("Viu", "que dorme na casa", "bom"), ("Viu", "que correu ontem", "ruim"))
]
TREEBANK = "\n\n".join(
    "\n".join(
        "\t".join([str(k), word, "_", tag, *"______"])
        for k, (word, tag) in enumerate(zip(words.split(), tags.split(), strict=True), 1)
    )
    for words, tags in (("o gato dorme", "DET NOUN VERB"), ("a gata viu o rato", "DET NOUN VERB DET NOUN"))
    for _ in range(12)
)


@pytest.fixture
def opinions(tmp_path) -> Path:
    """A CSV as a Brazilian spreadsheet saves it: a byte order mark, semicolons, quotes."""
    path = tmp_path / "opinioes.csv"
    path.write_text("texto;rotulo\n" + "".join(f'"{t}";{c}\n' for t, c in OPINIONS), encoding="utf-8-sig")
    return path


@pytest.fixture
def treebank(tmp_path) -> Path:
    path = tmp_path / "frases.conllu"
    path.write_text(TREEBANK + "\n\n", encoding="utf-8")
    return path
