"""From raw values to the figures of a report: ratios and means with their intervals, verdicts, tables."""

import math
import statistics
from dataclasses import dataclass
from xml.sax.saxutils import escape

T_95 = {2: 12.706, 3: 4.303, 5: 2.776}  # Student's t for an interval over so many seeds


@dataclass(frozen=True)
class Ratio:
    """The median of the rounds' ratios, with an interval around it (see `_rank`)."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def ratio(slow: list[float], fast: list[float]) -> Ratio:
    """How many times faster `fast` is than `slow`, round by round."""
    ratios = sorted(a / b for a, b in zip(slow, fast, strict=True))
    k = _rank(len(ratios))
    return Ratio(statistics.median(ratios), ratios[k], ratios[-1 - k])


def _rank(n: int) -> int:
    """The largest k whose order statistics k and n-1-k hold the true median with 95% confidence, or 0.

    They miss it with probability 2 P(Binomial(n, 1/2) <= k), whatever the distribution of the ratios; with
    fewer than six of them even the extremes (k = 0) miss it more often than 5% of the time.
    """
    k, tail = 0, 2 * 0.5**n
    while (tail := tail + 2 * math.comb(n, k + 1) * 0.5**n) <= 0.05:
        k += 1
    return k


def mean_and_half(values: list[float]) -> tuple[float, float]:
    """The mean over seeds, and half of its 95% interval."""
    half = T_95[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
    return statistics.mean(values), half


def verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


LABELS, LENGTH, ROW = 280, 400, 22  # widths of the two columns of a chart, and the height of a row


def bar_chart(bars: dict[str, float], caption: str) -> str:
    """Horizontal bars as SVG, with a line at 1; drawn by hand, so that the same bars give the same bytes."""
    scale = LENGTH / max(bars.values(), default=1)
    width, height = LABELS + LENGTH + 60, ROW * (len(bars) + 2)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img">',
        f"<title>{escape(caption)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        '<g font-family="sans-serif" font-size="12" fill="#222">',
    ]
    for row, (name, value) in enumerate(bars.items()):
        top, end = ROW * row + ROW // 2, LABELS + scale * value
        lines += [
            f'<text x="{LABELS - 8}" y="{top + 15}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{LABELS}" y="{top + 3}" width="{end - LABELS:.1f}" height="16" fill="#3b6ea5"/>',
            f'<text x="{end + 5:.1f}" y="{top + 15}">{value:.1f}</text>',
        ]
    one = f"{LABELS + scale:.1f}"
    lines += [
        f'<line x1="{one}" y1="4" x2="{one}" y2="{height - ROW}" stroke="#444"/>',
        f'<text x="{LABELS}" y="{height - 7}">{escape(caption)}</text>',
        "</g></svg>",
    ]
    return "\n".join(lines) + "\n"
