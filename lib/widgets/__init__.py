"""The course's widgets: live in a notebook with a kernel, and alive in the static page without one."""

from lib.widgets.mask_explorer import mask_explorer

__all__ = ["mask_explorer"]
