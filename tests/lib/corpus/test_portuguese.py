"""The Portuguese grammar: what it promises about words, agreement, senses and labels, and its floors."""

import math
import re
from collections import defaultdict

import pytest
import torch

from lib.corpus import PORTUGUESE, ambiguous_words, paragraphs, sample
from lib.corpus.entropy import bidirectional_floor, causal_floor, length_distribution, mlm_floor
from lib.corpus.inference import leave_one_out, next_word, posterior, topic_log_joint
from lib.corruption import BERT_CHANNEL, MASK_ONLY, mask_tokens
from lib.losses import IGNORE_INDEX
from lib.vocabulary import PAD, SPECIAL_TOKENS
from tests.randomness import seeded

FEMININE = {"a", "as", "uma", "essa", "essas", "duas", "algumas", "da", "das", "na", "nas"}
MASCULINE = {"o", "os", "um", "esse", "esses", "dois", "alguns", "do", "dos", "no", "nos"}
PLURAL = {"os", "as", "esses", "essas", "dois", "duas", "alguns", "algumas", "das", "dos", "nas", "nos"}


@pytest.fixture(scope="module")
def batch():
    return sample(PORTUGUESE, 3000, seed=11)


@pytest.fixture(scope="module")
def sentences(batch):
    return list(batch)


def test_vocabulary_and_length_are_as_promised():
    words = PORTUGUESE.vocabulary[len(SPECIAL_TOKENS) :]
    assert len(words) >= 300
    assert PORTUGUESE.vocabulary[: len(SPECIAL_TOKENS)] == SPECIAL_TOKENS
    assert all(re.fullmatch(r"[A-ZÀ-Ú]?[a-zà-ú]+", word) for word in words)  # no symbol of a rule leaked
    lengths = length_distribution(PORTUGUESE)
    assert lengths.sum().item() == pytest.approx(1, abs=1e-12)
    possible = lengths.nonzero().flatten()
    assert possible.min() == 5 and possible.max() == 15


def test_every_node_spends_its_whole_probability():
    spent = PORTUGUESE.node_end.clone().index_add_(0, PORTUGUESE.arc_source, PORTUGUESE.arc_probability)
    torch.testing.assert_close(spent, torch.ones_like(spent))
    emitted = PORTUGUESE.emission.sum(1)
    torch.testing.assert_close(emitted, torch.ones_like(emitted))


def test_words_with_two_senses_are_exactly_the_intended_ones():
    assert ambiguous_words(PORTUGUESE) == {
        "banco": ("equipamento", "instituição"),
        "concha": ("bicho do mar", "utensílio"),
        "linha": ("detalhe da roupa", "parte do barco"),
        "manga": ("detalhe da roupa", "fruta"),
        "ponto": ("detalhe da roupa", "lance"),
        "rede": ("equipamento", "parte do barco"),
        "vela": ("parte do barco", "utensílio"),
    }


@pytest.mark.parametrize(
    "sentence, topic",
    [
        ("o moço derrubou o banco", "futebol"),
        ("a moça pagou a conta no banco", "finanças"),
        ("a moça descascou a manga madura", "cozinha"),
        ("a moça costurou a manga", "costura"),
        ("o moço puxou a rede com calma", "mar"),
        ("o moço chutou a rede com calma", "futebol"),
    ],
)
def test_context_decides_the_sense(sentence, topic):
    """Each sense of a word has its own topic, and the words around it say which one it is."""
    assert topic_log_joint(PORTUGUESE, sentence).softmax(-1)[PORTUGUESE.topics.index(topic)] > 0.99


def test_determiner_and_noun_agree(sentences):
    """Gender and number, read from the surface against the class that emitted the noun."""
    checked, noun_class = 0, defaultdict(set)
    for name, row in zip(PORTUGUESE.classes, PORTUGUESE.emission, strict=True):
        if name.startswith("N "):
            for word in row.nonzero().flatten().tolist():
                noun_class[PORTUGUESE.vocabulary[word]].add(tuple(name.split()[-2:]))
    for sentence in sentences:
        following = zip(sentence.words[1:], sentence.meanings[1:], strict=True)
        for before, (word, meaning) in zip(sentence.words, following, strict=False):
            if meaning and before in FEMININE | MASCULINE:
                features = ("f" if before in FEMININE else "m", "p" if before in PLURAL else "s")
                assert features in noun_class[word], f"{before} {word} in {sentence}"
                checked += 1
    assert checked > 3000


def test_subject_and_verb_agree_in_number(sentences):
    checked = 0
    for sentence in sentences:
        spans = {span.name: sentence.words[span.start : span.stop] for span in sentence.spans}
        [verb] = spans.get("verbo") or spans["cópula"]
        plural_subject = "e" in spans["sujeito"] or spans["sujeito"][0] in PLURAL
        assert verb.endswith("m") == plural_subject, str(sentence)
        checked += plural_subject
    assert checked > 300


def test_contractions_never_stay_apart(sentences):
    text = "\n".join(map(str, sentences))
    assert not re.search(r"\b(de|em) (o|a|os|as)\b", text)
    assert re.search(r"\b(no|na|do|da)\b", text)


def test_a_team_never_plays_against_itself(sentences):
    matches = 0
    for sentence in sentences:
        teams = [sentence.words[s.start : s.stop] for s in sentence.spans if s.name == "ORG"]
        matches += len(teams) == 2
        assert len(teams) in (0, 2)
        assert len(set(teams)) == len(teams)
    assert matches > 10


def test_labels_are_of_every_kind_and_true(sentences):
    assert {sentence.sentiment for sentence in sentences} == {"positivo", "negativo", "neutro"}
    assert {span.name for sentence in sentences for span in sentence.spans} >= {"PER", "LOC", "ORG", "tempo"}
    for word, names in {"Santos": {"LOC", "ORG"}, "Paulo": {"PER", "LOC", "ORG"}}.items():
        around = (span for s in sentences for span in s.spans if word in s.words[span.start : span.stop])
        assert names <= {span.name for span in around}
    for sentence in sentences:
        polarities = {"adorou": "positivo", "detestou": "negativo"}
        for word, polarity in polarities.items():
            assert word not in sentence.words or sentence.sentiment == polarity
        if "gostou" in sentence.words:
            assert sentence.sentiment == ("negativo" if "não" in sentence.words else "positivo")


def test_same_seed_same_sentences_and_another_seed_others(batch):
    again = sample(PORTUGUESE, 3000, seed=11)
    assert torch.equal(again.ids, batch.ids) and torch.equal(again.arcs, batch.arcs)
    other = sample(PORTUGUESE, 3000, seed=12)
    assert other.ids.shape != batch.ids.shape or not torch.equal(other.ids, batch.ids)


def test_paragraphs_keep_their_topic():
    batch = paragraphs(PORTUGUESE, 200, 3, seed=5)
    topics = batch.topics.reshape(200, 3)
    assert torch.equal(topics, topics[:, :1].expand(-1, 3))
    assert len(topics[:, 0].unique()) == len(PORTUGUESE.topics)
    # The topic that generated a sentence is never impossible given its words.
    joint = topic_log_joint(PORTUGUESE, batch.ids)
    assert joint.gather(1, batch.topics[:, None]).isfinite().all()


def test_topic_posterior_is_calibrated(batch):
    """Mean posterior of the true topic against how often the most likely topic is the true one."""
    shares = topic_log_joint(PORTUGUESE, batch.ids[:1000]).softmax(-1)
    confidence, guess = shares.max(-1)
    hits = (guess == batch.topics[:1000]).double()
    error = 4 * ((hits - confidence).std() / math.sqrt(len(hits)) + 1e-9)
    assert abs(hits.mean() - confidence.mean()) < error


def test_posteriors_predict_frequencies_on_the_large_grammar(batch):
    """Average log-loss of exact posteriors equals their average entropy: true only of the true posteriors."""
    rows = batch.ids[:400]
    words = rows != PAD
    seen, labels = mask_tokens(rows, PORTUGUESE.vocabulary, rate=0.3, generator=seeded(4))
    channel = posterior(PORTUGUESE, seen, channel=BERT_CHANNEL, rate=0.3)
    gaps = {
        "one hidden": _loss_minus_entropy(leave_one_out(PORTUGUESE, rows), rows)[words],
        "next word": _loss_minus_entropy(next_word(PORTUGUESE, rows)[:, :-1], rows)[words],
        "channel": _loss_minus_entropy(channel, rows)[labels != IGNORE_INDEX],
    }
    for name, gap in gaps.items():
        # Words of one sentence are dependent: allow for it with a wide interval of six standard errors.
        assert abs(gap.mean()) < 6 * gap.std() / math.sqrt(len(gap)), name


def _loss_minus_entropy(probabilities, ids):
    loss = -probabilities.gather(-1, ids[..., None])[..., 0].clamp_min(1e-300).log()
    return loss - torch.special.entr(probabilities).sum(-1)


@pytest.fixture(scope="module")
def exact_floors():
    return {
        "causal": causal_floor(PORTUGUESE),
        "both": bidirectional_floor(PORTUGUESE, 600, limit=0),
        "mlm": mlm_floor(PORTUGUESE, MASK_ONLY, sentences=600, limit=0),
        "channel": mlm_floor(PORTUGUESE, BERT_CHANNEL, sentences=600, limit=0),
    }


@pytest.mark.slow
def test_causal_floor_is_exact_and_agrees_with_sampling(exact_floors, batch):
    floor = exact_floors["causal"]
    assert floor.exact
    loss = -topic_log_joint(PORTUGUESE, batch.ids[:1500]).logsumexp(-1)
    residual = loss - floor.value * (batch.lengths[:1500] + 1.0)
    assert abs(residual.mean()) < 4 * residual.std() / math.sqrt(len(loss))


@pytest.mark.slow
@pytest.mark.guards("05.s7")
def test_both_sides_are_worth_more_than_the_left(exact_floors):
    floors = exact_floors
    assert floors["both"].value + floors["both"].half_width < floors["causal"].value
    # The more is hidden, the less is known; a word kept or replaced still says something.
    assert floors["both"].value < floors["mlm"].value < floors["causal"].value
    assert floors["channel"].value < floors["mlm"].value + floors["mlm"].half_width
