"""The course's figures, one module per kind: Portuguese labels, decimal comma, never colour alone.

Every function returns the matplotlib figure, so that a cell can assert what it draws before showing it.
"""

from lib.plots.attention import matrices, matrix, who_sees_whom
from lib.plots.curves import curves

__all__ = ["curves", "matrices", "matrix", "who_sees_whom"]
