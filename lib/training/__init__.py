"""Training: from a source of text and an objective to weights, in one process or many.

data         batches as pure functions of (seed, step), from a grammar or from a text
objectives   masked words, masked words with the next sentence, next word; and their exact floors
optimizers   the recipe, and the optimizers that follow it
loop         the step, evaluation, log, progress bar
checkpoint   what a run that was stopped goes on from
shortcuts    the same loss and gradients for less work (`tied`: one gradient for the token table)
processes    the group that torchrun starts
fine_tuning  a pre-trained encoder under a new head
examples     labelled sentences as the tensors that fine-tuning reads
"""

from lib.training.data import Batch, GrammarSource, TextSource
from lib.training.fine_tuning import accuracy, fine_tune, labelled, predict
from lib.training.loop import HeldOut, Trainer, evaluate, hold_out, read_log, train
from lib.training.objectives import OBJECTIVES, Masked, MaskedPairs, NextWord, predictions
from lib.training.optimizers import Recipe
from lib.training.processes import World, joined

__all__ = ["Batch", "GrammarSource", "TextSource", "World", "joined"]
__all__ += ["OBJECTIVES", "Masked", "MaskedPairs", "NextWord", "predictions"]
__all__ += ["HeldOut", "Recipe", "Trainer", "evaluate", "hold_out", "read_log", "train"]
__all__ += ["accuracy", "fine_tune", "labelled", "predict"]
