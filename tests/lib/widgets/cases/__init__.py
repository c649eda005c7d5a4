"""The registry: every widget of the course, as the common tests need to know it."""

from tests.lib.widgets.cases import (
    cross_entropy_bars,
    mask_explorer,
    mlm_corruption,
    page_model,
    parameter_counter,
    quiz,
    real_attention,
    sense_space,
    wordpiece_steps,
)
from tests.lib.widgets.cases.case import Case

CASES: list[Case] = [
    mask_explorer.CASE,
    mlm_corruption.CASE,
    cross_entropy_bars.CASE,
    parameter_counter.CASE,
    wordpiece_steps.CASE,
    real_attention.CASE,
    page_model.CASE,
    sense_space.CASE,
    quiz.CASE,
]
