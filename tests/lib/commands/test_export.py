"""`python -m lib exportar`: a copy that transformers opens, half the size if asked."""

import torch
import transformers

from lib.commands import main
from lib.weights import load


def test_a_copy_is_the_same_model(tmp_path, masked, capsys):
    assert main(["exportar", "--modelo", str(masked), "--saida", str(tmp_path / "copia")]) == 0
    assert "aberta de novo, pesos idênticos" in capsys.readouterr().out
    ids = torch.tensor([[2, 9, 4, 11, 3]])
    theirs = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "copia").eval()
    assert torch.allclose(theirs(ids).logits, load(masked).model(ids), atol=1e-5)


def test_half_precision_takes_half_the_room(tmp_path, masked, capsys):
    assert main(["exportar", "--modelo", str(masked), "--saida", str(tmp_path / "meia"), "--float16"]) == 0
    assert "dos originais" in capsys.readouterr().out
    sizes = [(folder / "model.safetensors").stat().st_size for folder in (tmp_path / "meia", masked)]
    assert sizes[0] < 0.7 * sizes[1]


def test_a_published_checkpoint_is_brought_up_to_date(tmp_path, published, capsys):
    """An old folder, with vocab.txt and pickled weights, comes out with safetensors and tokenizer.json."""
    new = tmp_path / "novo"
    assert main(["exportar", "--modelo", str(published), "--saida", str(new)]) == 0
    assert sorted(file.name for file in new.iterdir()) == [
        "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json",
    ]  # fmt: skip
    assert transformers.AutoTokenizer.from_pretrained(new)("o gato")["input_ids"][0] == 2
