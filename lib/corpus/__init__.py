"""A Portuguese corpus with a known answer: sentences from a grammar whose every probability is exact.

grammar     the rule form, and the finite automaton that it compiles to
inference   exact posteriors of hidden, replaced or corrupted words (forward-backward)
entropy     floors: the lowest loss that any model can reach
sampling    seeded sentences and paragraphs with their labels
lexicon     the words and topics of the Portuguese grammar, as data
tasks       labelled datasets: topic, sentiment, tags, senses, entailment, questions
next_sentence  exact posteriors of the next-sentence label and of the words of a corrupted pair
portuguese  that grammar: agreement, contractions, frames; `PORTUGUESE` is the corpus of the book

Any grammar will do:

>>> grammar = Grammar.from_text(
...     "S -> 0.5 a N FRUTA | 0.5 a N ROUPA\\n"
...     "N -> manga | vela\\n"
...     "FRUTA -> 3 madura | 1 doce\\n"
...     "ROUPA -> rasgada"
... )
>>> hidden = posterior(grammar, "a manga [MASK]")[2]
>>> {word: round(hidden[i].item(), 3) for i, word in enumerate(grammar.vocabulary) if hidden[i] > 0}
{'madura': 0.375, 'doce': 0.125, 'rasgada': 0.5}
>>> print(bidirectional_floor(grammar))
0.5558 nats (exact)
"""

from lib.corpus.entropy import bidirectional_floor, causal_floor, mlm_floor
from lib.corpus.grammar import Grammar
from lib.corpus.inference import leave_one_out, next_word, posterior, topic_log_joint
from lib.corpus.next_sentence import next_sentence_floor, next_sentence_posterior, pair_posterior
from lib.corpus.portuguese import PORTUGUESE
from lib.corpus.sampling import ambiguous_words, paragraphs, sample

__all__ = ["PORTUGUESE", "Grammar", "ambiguous_words", "paragraphs", "sample"]
__all__ += ["bidirectional_floor", "causal_floor", "mlm_floor"]
__all__ += ["leave_one_out", "next_word", "posterior", "topic_log_joint"]
__all__ += ["next_sentence_floor", "next_sentence_posterior", "pair_posterior"]
