"""The table of languages: whole, and enough to recognise a text."""

import pytest

from trust.conventions import Convention, patterns
from trust.languages import LANGUAGES, recognise

SENTENCES = {
    "en": "The loss of the model is what we compare with that of the other.",
    "pt": "A perda do modelo é o que se compara com a de uma outra rede.",
    "es": "La pérdida del modelo es lo que se compara con la de los otros.",
    "fr": "La perte du modèle est ce que les auteurs comparent dans une table.",
    "de": "Der Verlust ist das, was wir mit dem von den anderen vergleichen.",
}


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_language_is_recognised_and_its_words_are_patterns(code):
    assert recognise(SENTENCES[code]) == code
    assert LANGUAGES[code].decimal in ",." and len(LANGUAGES[code].months.split()) >= 12
    assert patterns(Convention(language=code))
