"""The chain of trust: what makes a number in a book, a stored output or a table of results believable.

From Markdown to a verdict, each module using those before it:
- `inline`, `markdown`: what a reader sees of a page; `languages`, `conventions`, `readings`, `tex`,
  `numerals`: the numbers in it; `notebooks`, `settings`, `pages`: where pages and outputs come from;
- `ledger` checks that each number was printed by a cell, `bind` writes which, `audit` counts without ledgers;
- `tolerance`, `comparison`, `execution`: one run of each notebook, compared with what it stores;
- `tamper`, `tamper_outputs` change digits and require that a check notices; `plugin` does so in pytest;
- `modules`, `dependencies`, `provenance`: measured numbers, tied to the code and versions that gave them;
  `trace` sees whether a run uses more than that.

Nothing here knows what a book is about. `python -m trust --help`; README.md tells how to begin.
"""
