"""The course's widgets: live in a notebook with a kernel, and alive in the static page without one."""

from lib.widgets.mask_explorer import mask_explorer
from lib.widgets.mlm_corruption import mlm_corruption
from lib.widgets.quiz import quiz

__all__ = ["mask_explorer", "mlm_corruption", "quiz"]
