"""How large the project is: the example of the page, an evening on a laptop, a trial that proves nothing."""

from dataclasses import dataclass, replace

from lib.training.recipes import TEXT, TRIAL, Plan


@dataclass(frozen=True)
class Size:
    """Everything that makes a run of the project longer, and its results better."""

    vocabulary: int
    plan: Plan
    length: int  # tokens that a row holds, and the model
    asked: int  # held-out sentences of which every token is asked
    labelled: int  # examples of the task that are learnt from
    examined: int  # and those of its examination
    epochs: int  # over the labelled examples


EXAMPLE = Size(
    vocabulary=3000,
    plan=replace(TEXT, width=64, steps=300, batch=16),
    length=96,
    asked=60,
    labelled=400,
    examined=200,
    epochs=6,
)
EVENING = replace(
    EXAMPLE,
    vocabulary=8000,
    plan=replace(TEXT, width=128, layers=4, steps=6000, dropout=0.1),
    asked=400,
    labelled=4000,
    examined=600,
)
TINY = Size(vocabulary=200, plan=TRIAL, length=96, asked=6, labelled=30, examined=20, epochs=1)
