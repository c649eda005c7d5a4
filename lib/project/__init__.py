"""The final project: a Portuguese BERT of one's own, from a text to a folder that others open, and its proof.

sizes    how large and how long: the page's example, an evening, a trial
text     documents to learn from and to be examined on, and their data card
pieces   what a tokenizer does to words
holes    a masked model asked about every token of a text, beside models that count
twin     the same training steps by another library's model
task     words with tags, or texts with classes: lessons, examination, bars to beat
errors   where answers go wrong: by group, by confusion, by confidence
card     the README that goes with the model
"""

from lib.project.card import write_model_card
from lib.project.errors import FREQUENCIES, by_group, calibration_error, confusions, reliability, thirds
from lib.project.holes import fill_each, perplexities_of_counts
from lib.project.pieces import most_cut, pieces_per_word, unknown, unread
from lib.project.sizes import EVENING, EXAMPLE, Size
from lib.project.task import Task, read_task
from lib.project.text import Text, data_card, read_text, shared_sentences
from lib.project.twin import losses_of

__all__ = ["EVENING", "EXAMPLE", "FREQUENCIES", "Size", "Task", "Text"]
__all__ += ["data_card", "read_task", "read_text", "shared_sentences"]
__all__ += ["most_cut", "pieces_per_word", "unknown", "unread"]
__all__ += ["fill_each", "losses_of", "perplexities_of_counts"]
__all__ += ["by_group", "calibration_error", "confusions", "reliability", "thirds"]
__all__ += ["write_model_card"]
