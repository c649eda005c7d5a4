"""The course's figures, one module per kind: Portuguese labels, decimal comma, never colour alone.

Every function returns what a cell shows and, before, can assert: `axes` are matplotlib's, one for each panel.
"""

from lib.plots.attention import matrices, matrix, who_sees_whom
from lib.plots.curves import curves
from lib.plots.encoders import head_maps

__all__ = ["curves", "head_maps", "matrices", "matrix", "who_sees_whom"]
