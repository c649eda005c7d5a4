"""The course's widgets: live in a notebook with a kernel, and alive in the static page without one."""

from lib.widgets.cross_entropy_bars import cross_entropy_bars
from lib.widgets.mask_explorer import mask_explorer
from lib.widgets.mlm_corruption import mlm_corruption
from lib.widgets.page_model import page_model
from lib.widgets.parameter_counter import parameter_counter
from lib.widgets.quiz import quiz
from lib.widgets.real_attention import real_attention
from lib.widgets.sense_space import sense_space
from lib.widgets.wordpiece_steps import wordpiece_steps

__all__ = [
    "cross_entropy_bars",
    "mask_explorer",
    "mlm_corruption",
    "page_model",
    "parameter_counter",
    "quiz",
    "real_attention",
    "sense_space",
    "wordpiece_steps",
]
