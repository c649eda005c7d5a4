"""The registry: every widget of the course, as the common tests need to know it."""

from importlib import import_module

from tests.lib.widgets.cases.case import Case

NAMES = (
    *("mask_explorer", "mlm_corruption", "cross_entropy_bars", "parameter_counter", "wordpiece_steps"),
    *("real_attention", "page_model", "sense_space", "film", "quiz"),
)
CASES: list[Case] = [import_module(f"{__name__}.{name}").CASE for name in NAMES]
