"""Any BERT folder that transformers saves: in shards, as .bin, defaults left out, fine-tuned; and damaged."""

import json
import re
import shutil
import struct
from pathlib import Path

import pytest
import tokenizers as library
import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import decoders, models, pre_tokenizers, processors, trainers

from lib.heads import MaskedLM, PairsLM
from lib.presets import preset
from lib.tokenizer import Tokenizer
from lib.use import encode, fill_mask, word_vector
from lib.weights import load, load_encoder, load_masked_lm, real_encoder, real_encoder_name, save
from lib.weights.building import read_settings
from lib.weights.names import FAMILIES
from tests.reference import SENTENCES, SIZES, randomise

TYPES = {
    "bert": {"vocab_size": 61},
    "roberta": {"vocab_size": 61, "type_vocab_size": 1},
    "xlm-roberta": {"vocab_size": 97, "type_vocab_size": 1},
    "camembert": {"vocab_size": 97, "type_vocab_size": 1},
    "roberta-prelayernorm": {"vocab_size": 61},
}
HEADS = {
    "": transformers.AutoModel,
    "MaskedLM": transformers.AutoModelForMaskedLM,
    "SequenceClassification": transformers.AutoModelForSequenceClassification,
    "TokenClassification": transformers.AutoModelForTokenClassification,
    "QuestionAnswering": transformers.AutoModelForQuestionAnswering,
}


def theirs(model_type: str, head: str = "", **changes) -> torch.nn.Module:
    config = transformers.AutoConfig.for_model(model_type, **SIZES | TYPES[model_type] | changes)
    torch.manual_seed(0)
    return randomise(HEADS[head].from_config(config), 1).eval()


def in_bins(model: torch.nn.Module, folder: Path, shards: int) -> None:
    """As older versions saved: .bin files, which this one does not write any more."""
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder)
    state = list(model.state_dict().items())
    if shards == 1:
        torch.save(dict(state), folder / "pytorch_model.bin")
        return
    where = {}
    for i in range(shards):
        name = f"pytorch_model-{i + 1:05}-of-{shards:05}.bin"
        torch.save(dict(state[i::shards]), folder / name)
        where |= {key: name for key, _ in state[i::shards]}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))


WRITERS = {
    "one file": lambda model, folder: model.save_pretrained(folder),
    "shards": lambda model, folder: model.save_pretrained(folder, max_shard_size="20KB"),
    "bin": lambda model, folder: in_bins(model, folder, 1),
    "bin shards": lambda model, folder: in_bins(model, folder, 3),
}


def outputs_agree(model, mine) -> None:
    """Every output of the reference, on ids with padding, against ours."""
    ids = torch.tensor([[5, 9, 12, 7, 30], [6, 8, model.config.pad_token_id, model.config.pad_token_id, 0]])
    ids[1, -1] = model.config.pad_token_id
    mask = ids != model.config.pad_token_id
    with torch.no_grad():
        told, out = model(ids, attention_mask=mask.long()), mine(ids, mask)
    expected = [told.start_logits, told.end_logits] if "start_logits" in told else [told[0]]
    for a, b in zip(expected, out if isinstance(out, tuple) else [out], strict=True):
        at = mask if a.shape[:2] == mask.shape else ...
        torch.testing.assert_close(b[at], a[at], rtol=0, atol=1e-5)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("model_type", TYPES)
def test_every_family_under_every_head(tmp_path, model_type, head):
    names = {0: "não", 1: "talvez", 2: "sim"} if "Classification" in head else {0: "a", 1: "b"}
    model = theirs(model_type, head, id2label=names)
    model.save_pretrained(tmp_path)
    mine, tokenizer = load(tmp_path)
    outputs_agree(model, mine)
    assert tokenizer is None and not mine.training
    if "Classification" in head:
        assert mine.labels == tuple(names.values())
    encoder = load_encoder(tmp_path)
    outputs_agree(model.base_model, encoder)
    assert (encoder.pooler is None) == (model.base_model.pooler is None)


@pytest.mark.parametrize("writer", WRITERS)
def test_one_file_or_many(tmp_path, writer):
    model = theirs("bert", "MaskedLM")
    WRITERS[writer](model, tmp_path)
    assert (len(list(tmp_path.iterdir())) > 3) == ("shards" in writer)
    outputs_agree(model, load_masked_lm(tmp_path))
    assert type(load(tmp_path).model) is MaskedLM


@pytest.mark.parametrize("model_type", FAMILIES)
def test_our_defaults_are_those_of_transformers(model_type):
    config, ours = transformers.AutoConfig.for_model(model_type), FAMILIES[model_type].defaults
    left_out = {"model_type": model_type}
    assert read_settings(config.to_dict(), pooler=True) == read_settings(left_out, pooler=True)
    assert {name: getattr(config, name) for name in ours} == ours


def test_a_config_that_leaves_out_what_has_a_default(tmp_path):
    model = theirs("bert", "MaskedLM", num_attention_heads=12)
    model.save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    keep = ("architectures", "hidden_size", "num_hidden_layers", "intermediate_size", "vocab_size")
    path.write_text(json.dumps({name: json.loads(path.read_text())[name] for name in keep}))
    outputs_agree(model, load(tmp_path).model)


def test_bertimbau_as_it_is_published(tmp_path):
    """Its configuration with two of the twelve layers; .bin, both heads, vocab.txt and no tokenizer.json."""
    size = preset("bertimbau-base").vocab_size
    config = transformers.BertConfig(vocab_size=size, num_hidden_layers=2)
    torch.manual_seed(0)
    model = transformers.BertForPreTraining(config).eval()
    in_bins(model, tmp_path, 1)
    words = ["[PAD]", *(f"[unused{i}]" for i in range(1, 100)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words += ["O", "banco", "aprovou", "o", "empr", "##éstimo", ".", "avó", "avô", "manga", "madura", "a"]
    words += [f"palavra{i}" for i in range(size - len(words))]
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    mine, tokenizer = load(tmp_path)
    assert isinstance(mine, PairsLM) and mine.encoder.config == preset("bertimbau-base", layers=2)
    outputs_agree(model, mine)
    reference = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for text in (*SENTENCES, "a avó e o avô, a [MASK] madura"):
        assert tokenizer.encode(text).ids == reference(text)["input_ids"]
    [guesses] = fill_mask(mine, tokenizer, "a [MASK] madura", 3)
    assert len(guesses) == 3
    save(tmp_path / "again", mine, tokenizer)
    assert torch.equal(encode(*load(tmp_path / "again"), "O banco"), encode(mine, tokenizer, "O banco"))


def byte_level() -> library.Tokenizer:
    made = library.Tokenizer(models.BPE())
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        SENTENCES, trainers.BpeTrainer(special_tokens=SPECIAL, initial_alphabet=alphabet)
    )
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return made


def sentence_piece() -> library.Tokenizer:
    made = library.Tokenizer(models.Unigram())
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    trainer = trainers.UnigramTrainer(special_tokens=SPECIAL, unk_token="<unk>", show_progress=False)
    made.train_from_iterator(SENTENCES, trainer)
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return made


SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


@pytest.mark.parametrize(
    ("model_type", "tokens"),
    [("roberta", byte_level), ("xlm-roberta", sentence_piece), ("camembert", sentence_piece)],
)
def test_a_roberta_reads_and_fills_with_its_own_tokenizer(tmp_path, model_type, tokens):
    mask = library.AddedToken("<mask>", lstrip=True, special=True)
    names = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=tokens(), mask_token=mask, **names)
    made.save_pretrained(tmp_path)
    theirs(model_type, "MaskedLM", vocab_size=len(made)).save_pretrained(tmp_path)
    for folder in (tmp_path, save(tmp_path / "again", *load(tmp_path))):
        model, tokenizer = load(folder)
        reference = transformers.AutoTokenizer.from_pretrained(folder)
        for text in SENTENCES:
            assert tokenizer.encode(text).ids == reference(text)["input_ids"]
        assert [w.text for w in tokenizer.encode("Não!", "a avó").words][-2:] == ["a", "avó"]
        assert word_vector(model, tokenizer, SENTENCES[1], "manga").shape == (SIZES["hidden_size"],)
        told = transformers.pipeline("fill-mask", str(folder), top_k=3)("O <mask> da praça")
        [mine] = fill_mask(model, tokenizer, "O [MASK] da praça", 3)
        assert [g.probability for g in mine] == pytest.approx([each["score"] for each in told], abs=1e-6)


MISSING = object()


def change_config(**changes):
    def change(folder: Path) -> None:
        path = folder / "config.json"
        changed = json.loads(path.read_text()) | changes
        path.write_text(json.dumps({name: x for name, x in changed.items() if x is not MISSING}))

    return change


def change_tensor(name: str, how):
    """Change one tensor in the file that holds it: `how` maps it to another, or to None for none."""

    def change(folder: Path) -> None:
        path = next(p for p in folder.glob("*.safetensors") if name in load_file(p))
        tensors = load_file(path)
        tensors[name] = how(tensors[name])
        save_file({key: value for key, value in tensors.items() if value is not None}, path)

    return change


def add_tensor(name: str, *shape: int):
    def change(folder: Path) -> None:
        path = folder / "model.safetensors"
        save_file(load_file(path) | {name: torch.ones(shape)}, path)

    return change


def cut(pattern: str, keep: float = 0.5):
    def change(folder: Path) -> None:
        path = sorted(folder.glob(pattern))[0]
        path.write_bytes(path.read_bytes()[: int(path.stat().st_size * keep)])

    return change


def change_header(folder: Path) -> None:
    """A dtype that does not exist, in the header of a safetensors file."""
    path = sorted(folder.glob("*.safetensors"))[0]
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    path.write_bytes(data[:8] + data[8 : 8 + size].replace(b"F32", b"X32") + data[8 + size :])


def change_index(how):
    def change(folder: Path) -> None:
        path = folder / "model.safetensors.index.json"
        path.write_text(json.dumps(how(json.loads(path.read_text()))))

    return change


def renamed(old: str, new: str):
    return lambda folder: (folder / old).rename(folder / new)


QUERY = "bert.encoder.layer.1.attention.self.query.weight"
DAMAGES = {
    "a cut file": (cut("*.safetensors"), "is damaged, or not a safetensors file"),
    "an empty file": (cut("*.safetensors", 0), "is damaged, or not a safetensors file"),
    "an unknown dtype": (change_header, "is damaged, or not a safetensors file"),
    "a cut configuration": (cut("config.json"), "config.json is not a JSON file"),
    "a configuration in Latin-1": (
        lambda folder: (folder / "config.json").write_bytes(b'{"a": "\xe9"}'),
        "config.json is not a JSON file",
    ),
    "a list": (lambda folder: (folder / "config.json").write_text("[]"), "must hold an object"),
    "no configuration": (lambda folder: (folder / "config.json").unlink(), "holds no config.json"),
    "another kind": (change_config(model_type="t5"), "model_type must be one of bert, roberta, .* got 't5'"),
    "a kind that is no name": (change_config(model_type=["bert"]), "model_type must be one of"),
    "settings of another type": (change_config(hidden_size="24"), "d must be an integer"),
    "layers of another type": (change_config(num_hidden_layers=None), "layers must be an integer"),
    "too few layers": (change_config(num_hidden_layers=2), r"left over .* ignore=\('encoder',\)"),
    "too many layers": (change_config(num_hidden_layers=4), "missing encoder.layer.3"),
    "no kind": (change_config(model_type=MISSING, architectures=MISSING), "model_type must be one of bert"),
    "another activation": (change_config(hidden_act="silu"), "activation must be one of"),
    "relative positions": (change_config(position_embedding_type="relative_key"), "must be 'absolute'"),
    "an odd number of heads": (change_config(num_attention_heads=5), "d must be divisible by heads"),
    "no size of vocabulary": (change_config(vocab_size=None), "vocab_size must be an integer"),
    "no width": (change_config(hidden_size=MISSING), r"asks for \(61, 768\)"),
    "an unknown head": (change_config(architectures=["BertForMultipleChoice"]), "load_encoder"),
    "a tensor missing": (
        change_tensor(QUERY, lambda x: None),
        r"(missing|names) (bert\.)?encoder.layer.1.attention",
    ),
    "another shape": (change_tensor(QUERY, lambda x: x[1:].clone()), r"query.weight has shape \(23, 24\)"),
    "integers": (change_tensor(QUERY, lambda x: x.long()), "query.weight must hold finite floating-point"),
    "NaN": (change_tensor(QUERY, lambda x: x * torch.nan), "query.weight must hold finite floating-point"),
}
OF_SHARDS = {
    "an index without its map": (change_index(lambda index: {}), "must hold a weight_map"),
    "a map of numbers": (change_index(lambda index: {"weight_map": {"a": 1}}), "must hold a weight_map"),
    "a cut index": (cut("model.safetensors.index.json"), "is not a JSON file"),
    "a shard lost": (
        lambda folder: next(folder.glob("model-00002*")).unlink(),
        "names model-00002-of-.* holds no such file",
    ),
    "a tensor lost": (
        change_index(lambda index: {"weight_map": dict.fromkeys((QUERY, "x"), index["weight_map"][QUERY])}),
        "names x, and model-.* does not hold it",
    ),
    "a file of another folder": (
        change_index(lambda index: {"weight_map": {"a": "../model.safetensors"}}),
        "must name files of its own folder",
    ),
}
OF_ONE_FILE = {
    "another name": (
        renamed("model.safetensors", "weights.safetensors"),
        "weights.safetensors: rename it to",
    ),
    "TensorFlow's": (renamed("model.safetensors", "tf_model.h5"), "from_tf=True"),
    "no tensors": (
        lambda folder: (folder / "model.safetensors").unlink(),
        "holds neither model.safetensors nor",
    ),
    "a tensor too many": (add_tensor("surprise", 1), "left over surprise"),
    "another unembedding": (add_tensor("cls.predictions.decoder.weight", 61, 24), "not tied"),
    "a cut tokenizer": (cut("tokenizer.json"), "tokenizer.json is not a tokenizer"),
    "another tokenizer": (
        lambda folder: Tokenizer([f"w{i}" for i in range(99)]).save(folder / "tokenizer.json"),
        "has 104 tokens, and its model knows 61",
    ),
}
CASES = [
    *(("ours", name, *case) for name, case in (DAMAGES | OF_ONE_FILE).items()),
    *(("theirs", name, *case) for name, case in (DAMAGES | OF_SHARDS).items()),
]


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """A folder of ours, in one file, and one of theirs, in shards."""
    folder = tmp_path_factory.mktemp("sound")
    model = theirs("bert", "MaskedLM")
    model.save_pretrained(folder / "theirs", max_shard_size="50KB")
    save(folder / "ours", load(folder / "theirs").model, Tokenizer([f"w{i}" for i in range(56)]))
    return folder


@pytest.mark.parametrize(
    ("whose", "name", "damage", "message"), CASES, ids=[f"{c[0]}, {c[1]}" for c in CASES]
)
def test_a_damaged_folder_gets_one_sentence(tmp_path, sound, whose, name, damage, message):
    folder = shutil.copytree(sound / whose, tmp_path / "copy")
    damage(folder)
    with pytest.raises((ValueError, FileNotFoundError), match=message) as caught:
        load(folder)
    assert type(caught.value) in (ValueError, FileNotFoundError) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "damage", [cut("*.bin"), cut("*.bin", 0), lambda folder: (folder / "pytorch_model.bin").write_text("olá")]
)
def test_a_damaged_bin_gets_one_sentence_too(tmp_path, damage):
    in_bins(theirs("bert"), tmp_path, 1)
    damage(tmp_path)
    with pytest.raises(ValueError, match=r"pytorch_model\.bin .*is damaged") as caught:
        load(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_a_file_is_named(tmp_path, sound):
    (tmp_path / "taken").write_text("")
    with pytest.raises(ValueError, match=r"folder must name a folder, and .*taken is a file"):
        save(tmp_path / "taken", *load(sound / "ours"))
    assert (tmp_path / "taken").read_text() == ""


def test_labels_that_do_not_fit_the_head(tmp_path):
    theirs("bert", "TokenClassification").save_pretrained(tmp_path)
    change_config(id2label={"0": "a", "1": "b", "2": "c"})(tmp_path)
    with pytest.raises(ValueError, match="id2label must name the 2 classes of the head"):
        load(tmp_path)


# One's own BERT in the chapters


def test_the_chapters_show_minilm_or_what_the_setting_names(tmp_path, monkeypatch, sound):
    monkeypatch.delenv("MEU_BERT", raising=False)
    encoder, tokenizer = real_encoder()
    assert encoder.config == preset("minilm") and tokenizer.size == encoder.config.vocab_size
    assert real_encoder_name() == "MiniLM"
    monkeypatch.setenv("MEU_BERT", str(sound / "ours"))
    assert real_encoder_name() == "ours"
    encoder, tokenizer = real_encoder()
    assert encoder.config.d == SIZES["hidden_size"] and tokenizer.tokenize("w7") == ["w7"]
    for folder in (tmp_path, tmp_path / "nowhere", sound / "theirs"):  # the last one has no tokenizer
        monkeypatch.setenv("MEU_BERT", str(folder))
        with pytest.raises(ValueError, match=f"MEU_BERT must name the folder .*{re.escape(str(folder))}"):
            real_encoder()
