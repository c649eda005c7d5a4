"""The same training by two implementations: one of them is ours, the other anybody's.

The other starts from our weights, reads our batches and follows our recipe; what it computes inside is its
own. If its losses are ours, step by step, then so are its gradients, and our training is the known one.
"""

from collections.abc import Sequence

from torch import nn

from lib.training.data import Batch
from lib.training.optimizers import Recipe, adamw


def losses_of(twin: nn.Module, batches: Sequence[Batch], recipe: Recipe) -> list[float]:
    """Train a model with the interface of transformers' BertForMaskedLM; its loss at each step."""
    optimizer = adamw(twin.train(), recipe)
    losses = []
    for step, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = recipe.rate(step)
        loss = twin(input_ids=batch.ids, attention_mask=batch.real.long(), labels=batch.labels).loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(twin.parameters(), recipe.clip)
        optimizer.step()
        losses.append(loss.item())
    return losses
