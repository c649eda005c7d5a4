"""Recipes that work: which model, on which exercise, how long and how fast.

The command `python -m lib treinar`, the book's own models and the benchmarks take them from here.
"""

from dataclasses import dataclass

from lib.corruption import BERT_CHANNEL, Channel
from lib.encoder import Config
from lib.training.objectives import OBJECTIVES, Masked, Objective
from lib.training.optimizers import Recipe


@dataclass(frozen=True)
class Plan:
    """One training, but for its data and its seed."""

    objective: str = "mlm"
    width: int = 64
    layers: int = 2
    heads: int = 4
    d_ff: int | None = None  # None: 4 times the width
    pre_norm: bool = False
    dropout: float = 0.0
    steps: int = 3000
    batch: int = 128
    lr: float = 4e-3
    beta_2: float = 0.999
    muon: float | None = None
    # The share of words hidden at first and at last: more of them teach more from each sentence (Wettig
    # 2023). It comes down in a line over the first `falling` of the steps.
    hidden: tuple[float, float] = (0.15, 0.15)
    falling: float = 0.6
    units: str = "tokens"
    # What becomes of them. As many random words as kept ones, as in an evaluation, or the best answer would
    # be another; more of both teach sooner that a word in sight is most often right.
    channel: Channel = BERT_CHANNEL

    @property
    def recipe(self) -> Recipe:
        return Recipe(self.steps, self.lr, beta_2=self.beta_2, muon=self.muon)

    def config(self, vocab_size: int, positions: int, pad_id: int = 0) -> Config:
        """The model, for data with so many tokens, in sentences of so many."""
        kind = OBJECTIVES[self.objective]
        return Config(
            vocab_size,
            d=self.width,
            layers=self.layers,
            heads=self.heads,
            d_ff=self.d_ff or 4 * self.width,
            positions=positions,
            causal=kind.causal,
            pre_norm=self.pre_norm,
            pooler=kind.pooler,
            dropout=self.dropout,
            pad_id=pad_id,
        )

    def build(self, config: Config) -> Objective:
        """The objective with fresh weights, which the global seed decides."""
        kind, (first, last) = OBJECTIVES[self.objective], self.hidden
        if not issubclass(kind, Masked):
            return kind(config)
        early = (first, max(1, round(self.falling * self.steps)))
        return kind(config, last, self.channel, early=early, units=self.units)


COURSE = Plan(hidden=(0.5, 0.15))
# For a text of some megabytes at most: what is seldom seen must be learnt from few looks at it.
TEXT = Plan(width=128, batch=64, lr=1e-2, beta_2=0.98, muon=0.02, hidden=(0.5, 0.15), falling=1.0)
# What comes closest to the floor in a quarter of an hour.
FLOOR = Plan(
    steps=9000,
    batch=512,
    lr=1.5e-2,
    d_ff=128,
    pre_norm=True,
    beta_2=0.98,
    muon=0.05,
    hidden=(0.6, 0.3),
    falling=1.0,
    channel=Channel(mask=0.6, random=0.2, keep=0.2),
)
TRIAL = Plan(width=16, layers=1, heads=2, steps=30, batch=8, lr=3e-3)
PLANS = {"curso": COURSE, "texto": TEXT, "piso": FLOOR, "teste": TRIAL}
