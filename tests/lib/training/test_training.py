"""The training loop on a grammar of twenty words: its data, its losses, its floors, its memory."""

import copy
import itertools
import json
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from torch import nn

from lib.corpus import topic_log_joint
from lib.corpus.entropy import sentence_table
from lib.corruption import epoch_generator
from lib.encoder import Config
from lib.heads import PairHead, SequenceHead, SpanHead, TokenHead
from lib.losses import IGNORE_INDEX, cross_entropy
from lib.pairs import IS_NEXT
from lib.tokenizer import Tokenizer
from lib.training.data import Batch, GrammarSource, TextSource, fill_blocks, generator
from lib.training.fine_tuning import Labelled, accuracy, fine_tune, hide_tokens, labelled, predict
from lib.training.loop import Trainer, evaluate, hold_out, read_log, rewind, train
from lib.training.objectives import OBJECTIVES, Masked, predictions
from lib.training.optimizers import Muon, Recipe, adamw, optimizers
from lib.vocabulary import CLS, MASK, PAD, SEP, SPECIAL_TOKENS, Vocabulary
from lib.weights import load, save
from tests.randomness import seeded
from tests.refusals import refuses
from tests.toy import TOY, toy_objective

torch.set_num_threads(1)


def toy_trainer(name: str = "mlm", steps: int = 12, **recipe) -> Trainer:
    torch.manual_seed(0)
    return Trainer(toy_objective(name, 0.1), GrammarSource(TOY, 16, 0), Recipe(steps, **recipe))


def advance(trainer: Trainer, steps: int) -> None:
    for _ in range(steps):
        trainer.advance()


def weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    return {name: t.clone() for name, t in trainer.state().items()}


# Data


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_batch_depends_on_the_seed_and_the_step_alone(name):
    objective, source = toy_objective(name), GrammarSource(TOY, 8, seed=3)
    in_order = [objective.draw(source, step) for step in range(40)]
    backwards = {step: objective.draw(GrammarSource(TOY, 8, seed=3), step) for step in (39, 17, 16, 0)}
    for step, batch in backwards.items():
        for one, other in zip(batch, in_order[step], strict=True):
            assert one is other is None or torch.equal(one, other)
    elsewhere = objective.draw(GrammarSource(TOY, 8, seed=4), 0).ids
    assert elsewhere.shape != in_order[0].ids.shape or not torch.equal(elsewhere, in_order[0].ids)
    assert not any(torch.equal(in_order[0].ids, b.ids) for b in in_order[1:])


def test_sentences_of_a_grammar_are_framed():
    for row in GrammarSource(TOY, 64, 0).sentences(5):
        words = row[row != PAD]
        assert words[0] == CLS and words[-1] == SEP
        assert topic_log_joint(TOY, words[1:-1]).logsumexp(-1).isfinite()


def test_pairs_of_a_grammar_are_neighbours_or_strangers():
    pairs = GrammarSource(TOY, 200, 0).pairs(0)
    together = (pairs.labels == IS_NEXT).double().mean()
    assert 0.3 < together < 0.7  # 200 coins: outside with probability 1e-8
    assert ((pairs.ids == SEP).sum(1) == 2).all()


@given(world=st.integers(1, 5), rows=st.integers(1, 12))
def test_the_shares_of_all_processes_are_the_batch(world, rows):
    ids = torch.arange(rows * 3).view(rows, 3)
    batch = Batch(ids, ids, ids >= 0)
    shares = [batch.share(rank, world).ids for rank in range(world)]
    assert sorted(torch.cat(shares).flatten().tolist()) == ids.flatten().tolist()
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


TEXT = [[[5, 6, 7], [8, 9]], [[6] * 12], [[7, 7, 7], [5, 5, 5, 5], [9]]]
WORDS = Vocabulary.of_size(10)


def test_an_epoch_of_a_text_reads_every_block_once():
    source = TextSource(TEXT, WORDS, batch=1, seed=0, max_length=8)
    count = len(source.blocks)
    for epoch in range(3):
        read = [
            tuple(r[r != PAD].tolist()) for i in range(count) for r in source.sentences(epoch * count + i)
        ]
        assert sorted(read) == sorted(tuple(r[r != PAD].tolist()) for r in source.blocks)
    orders = {tuple(source._place(e * count + i) for i in range(count)) for e in range(6)}
    assert len(orders) > 1, "every epoch reads in the same order"


@given(
    documents=st.lists(
        st.lists(st.lists(st.integers(5, 9), min_size=1, max_size=9), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    ),
    size=st.integers(1, 7),
)
def test_blocks_hold_every_token_in_order_and_never_two_documents(documents, size):
    blocks = fill_blocks(documents, size)
    assert blocks.shape[1] <= size
    tokens = [t for d in documents for s in d for t in s]
    assert blocks[blocks != PAD].tolist() == tokens
    ends = itertools.accumulate(sum(map(len, document)) for document in documents)
    ends_of_blocks = (blocks != PAD).sum(1).cumsum(0).tolist()
    assert {*ends} <= {*ends_of_blocks}, "a block runs over the end of a document"


def test_pairs_of_a_text_are_a_function_of_the_step_and_fit():
    source = TextSource(TEXT, WORDS, 40, max_length=9)
    assert torch.equal(TextSource(TEXT, WORDS, 40, max_length=9).pairs(2).ids, source.pairs(2).ids)
    assert not torch.equal(source.pairs(1).labels, source.pairs(2).labels)
    pairs = source.pairs(0)
    assert set(pairs.labels.tolist()) == {0, 1} and len(pairs.ids) == 40
    # Three tokens each, and a sentence of four loses one at either end.
    assert pairs.ids.shape[1] == 9 and ((pairs.ids == SEP).sum(1) == 2).all()
    with pytest.raises(ValueError, match="two or more with two sentences"):
        TextSource([[[5, 6], [7, 8]], [[5]]], WORDS, 4).pairs(0)


def test_generators_of_different_places_are_different():
    """Corruption seeds its epochs by another scheme: the same numbers must not mean the same stream."""
    places = ((0, "mask", 1), (0, "mask", 2), (1, "mask", 1))
    streams = [epoch_generator(0, 1), *(generator(*place) for place in places)]
    assert len({torch.rand((), generator=stream).item() for stream in streams}) == 4


# Losses and floors


@pytest.mark.parametrize("name", ["mlm", "causal"])
def test_the_loss_is_that_of_the_plain_model(name):
    objective, source = toy_objective(name), GrammarSource(TOY, 16, 0)
    batch = objective.draw(source, 0)
    labels = () if name == "causal" else (batch.labels,)
    plain = objective.model.loss(batch.ids, *labels, batch.real)
    assert torch.allclose(objective(batch) / objective.counts(batch), plain.double().reshape(1), atol=1e-6)


@pytest.mark.guards("05.s16")
def test_the_loss_of_pairs_is_that_of_the_plain_heads():
    objective, source = toy_objective("mlm+nsp"), GrammarSource(TOY, 16, 0)
    batch = objective.draw(source, 0)
    hidden = objective.model.encoder(batch.ids, batch.real, batch.segments)
    mlm = objective.model.loss(batch.ids, batch.labels, batch.real, batch.segments)
    nsp = cross_entropy(objective.model.nsp(objective.model.encoder.pooler(hidden)), batch.is_next)
    expected = torch.stack([mlm, nsp]).double()
    assert torch.allclose(objective(batch) / objective.counts(batch), expected, atol=1e-6)


def test_a_share_without_predictions_still_has_a_gradient():
    objective = toy_objective("mlm")
    ids = torch.tensor([[CLS, 6, SEP]])
    loss = objective(Batch(ids, torch.full_like(ids, IGNORE_INDEX), ids != PAD))
    loss.sum().backward()
    assert float(loss.detach()) == 0 and all(p.grad is not None for p in objective.parameters())


def test_the_causal_floor_of_a_sentence_is_its_log_probability():
    objective, source = toy_objective("causal"), GrammarSource(TOY, 32, 0)
    batch = objective.draw(source, 0)
    lost = objective.floors(TOY, batch)["causal"]
    rows = (batch.labels != IGNORE_INDEX).nonzero()[:, 0]
    per_sentence = torch.zeros(32, dtype=torch.float64).index_add_(0, rows, lost)
    for row, total in zip(source.sentences(0), per_sentence, strict=True):
        words = row[(row != PAD) & (row != CLS) & (row != SEP)]
        assert torch.allclose(-topic_log_joint(TOY, words).logsumexp(-1), total)


def chances(objective, sentences, seen):
    """For each sentence (S, n), the chance of what is seen at each place: if it may be selected, if it is."""
    shown = nn.functional.pad(seen, (0, sentences.shape[1] - len(seen)), value=PAD)
    fits = ((sentences != PAD) == (shown != PAD)).all(1, keepdim=True)
    words = (shown.clamp(min=MASK), sentences.clamp(min=MASK + 1), TOY.vocabulary)
    of_words = [objective.channel.likelihood(*words, rate) for rate in (objective.rate, 1.0)]
    return [chance.where(fits & (shown != PAD), fits.double()) for chance in of_words]


def test_the_masked_floor_is_bayes_rule_over_all_sentences():
    """Prior of every sentence times the likelihood of what the channel shows, with no forward-backward."""
    objective = toy_objective("mlm")
    batch = objective.draw(GrammarSource(TOY, 24, 0), 1)
    sentences, prior = sentence_table(TOY)
    expected = []
    for ids, labels in zip(batch.ids, batch.labels, strict=True):
        unknown, chosen = chances(objective, sentences, ids[1 : ids.tolist().index(SEP)])
        for i in (labels != IGNORE_INDEX).nonzero().flatten().tolist():
            likelihood = unknown.clone()
            likelihood[:, i - 1] = chosen[:, i - 1]
            joint = prior * likelihood.prod(1)
            expected.append(-math.log(joint[sentences[:, i - 1] == labels[i]].sum() / joint.sum()))
    assert torch.allclose(objective.floors(TOY, batch)["mlm"], torch.tensor(expected, dtype=torch.float64))


def test_the_floors_of_pairs_are_bayes_rule_over_all_pairs():
    """Every pair of sentences, following or not, times the likelihood of what the channel shows."""
    objective, source = toy_objective("mlm+nsp", positions=48), GrammarSource(TOY, 24, 0)
    batch = objective.draw(source, 1)
    sentences, prior = sentence_table(TOY)  # (S, n), (S,)
    of_b = torch.isin(sentences, TOY.encode("corre dorme")).any(1)  # only topic B has these verbs
    same_topic = of_b[:, None] == of_b[None, :]
    apart = prior[:, None] * prior[None, :]
    together = apart * same_topic / 0.5  # P(t) P(A|t) P(B|t), and P(t) = 1/2
    assert together.sum() == pytest.approx(1)
    pairs = torch.stack([together, apart]) / 2  # (2, S, S): IS_NEXT, NOT_NEXT
    words, labels_lost = [], []
    for ids, labels, is_next in zip(batch.ids, batch.labels, batch.is_next, strict=True):
        middle, end = (ids == SEP).nonzero().flatten().tolist()
        both = (chances(objective, sentences, seen) for seen in (ids[1:middle], ids[middle + 1 : end]))
        unknown, chosen = zip(*both, strict=True)
        weight = pairs * unknown[0].prod(1)[:, None] * unknown[1].prod(1)[None, :]
        labels_lost.append(-(weight.sum((1, 2)) / weight.sum())[is_next].log().item())
        for i in (labels != IGNORE_INDEX).nonzero().flatten().tolist():
            half, place = (0, i - 1) if i < middle else (1, i - middle - 1)
            seen_at = [u.clone() for u in unknown]
            seen_at[half][:, place] = chosen[half][:, place]
            weight = (pairs * seen_at[0].prod(1)[:, None] * seen_at[1].prod(1)[None, :]).sum(0)
            of_word = weight.sum(1 - half)[sentences[:, place] == labels[i]].sum()
            words.append(-(of_word / weight.sum()).log().item())
    exact = objective.floors(TOY, batch)
    # A and B are told apart there, so the words come in another order.
    torch.testing.assert_close(exact["mlm"].sort().values, torch.tensor(words).double().sort().values)
    torch.testing.assert_close(exact["nsp"], torch.tensor(labels_lost).double())
    held_out = hold_out(objective, source, 2)
    assert held_out.floors.keys() == {"mlm", "nsp"} and held_out.floor == sum(held_out.floors.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mlm", "causal"])
def test_training_comes_down_to_the_floor_and_not_below(name):
    torch.manual_seed(0)
    objective = toy_objective(name, d=32, layers=1)
    held_out = hold_out(objective, GrammarSource(TOY, 256, -1), 4)
    trainer = Trainer(objective, GrammarSource(TOY, 64, 0), Recipe(250, 1e-2))
    before = evaluate(objective, held_out)[name]
    train(trainer)
    after = evaluate(objective, held_out)[name]
    assert before > 2 * held_out.floor
    assert 0.97 * held_out.floor < after < 1.12 * held_out.floor


def test_predictions_are_the_models_probabilities():
    objective = toy_objective("mlm", dropout=0.5).train()
    ids = torch.tensor([CLS, 6, MASK, 8, SEP])
    told = predictions(objective, ids, 2, top=4)
    assert objective.training, "the mode must be left as it was"
    expected = objective.eval().model(ids[None])[0, 2].softmax(-1)
    assert [i for i, _ in told] == expected.argsort(descending=True)[:4].tolist()
    assert all(abs(p - expected[i].item()) < 1e-6 for i, p in told)


@pytest.mark.parametrize("units", ["words", "spans"])
def test_words_are_hidden_whole_in_training_and_token_by_token_in_an_examination(units):
    """Of "gat ##inho" both pieces or none; the budget of spans may cut the last one of a row short."""
    tokens = Vocabulary([*SPECIAL_TOKENS, "o", "gat", "##inho", "corr", "##e", "##u"])
    source = TextSource([[[5, 6, 7, 8, 9, 10] * 4]] * 40, tokens, 32, 0, 26)
    objective = Masked(Config(len(tokens), d=8, heads=1, layers=1, pooler=False), 0.3, units=units)

    def torn(batch: Batch) -> int:
        """Words of which a part is hidden: neighbours of which one is, and the second continues the first."""
        hidden = batch.labels != IGNORE_INDEX
        original = torch.where(hidden, batch.labels, batch.ids)
        return int((tokens.continues[original[:, 1:]] & (hidden[:, 1:] != hidden[:, :-1])).sum())

    training = sum(torn(objective.train().draw(source, step)) for step in range(20))
    examined = sum(torn(objective.eval().draw(source, step)) for step in range(20))
    assert training <= (0 if units == "words" else 20 * 32) and examined > 20 * 32 * 2
    counts = sum(objective.train().counts(objective.draw(source, step)) for step in range(20))
    assert abs(counts / (20 * 32 * 24) - 0.3) < 0.02, "the share that is hidden stays"


def test_more_is_hidden_at_first_and_never_in_an_examination():
    objective = toy_objective("mlm")
    objective.early = (0.6, 100)
    assert [round(objective.rate_at(step), 3) for step in (0, 50, 100, 500)] == [0.6, 0.375, 0.15, 0.15]
    source = GrammarSource(TOY, 400, 0)
    lesson = objective.draw(source, 0)
    examination = hold_out(objective, source, 1).batches[0]
    words = source.vocabulary.is_ordinary(source.sentences(0)).sum()
    shares = [((batch.labels != IGNORE_INDEX).sum() / words).item() for batch in (lesson, examination)]
    assert shares == pytest.approx([0.6, 0.15], abs=0.06)  # 1,900 coins: five standard deviations
    assert objective.training


# The loop


@given(steps=st.integers(1, 200), warmup=st.floats(0, 1))
def test_the_rate_rises_to_its_peak_and_falls_without_reaching_zero(steps, warmup):
    recipe = Recipe(steps, lr=2.0, warmup=warmup)
    rates = [recipe.rate(step) for step in range(steps)]
    assert all(0 < rate <= 2.0 for rate in rates)
    peak = rates.index(max(rates))
    up, down = rates[: peak + 1], rates[peak:]
    assert up == sorted(up) and down == sorted(down, reverse=True)
    assert max(rates) == pytest.approx(2.0)


BAD_SIZES = dict.fromkeys(("steps", "lr", "clip", "beta_2", "muon"), 0).items()
BAD_KINDS = {"steps": True, "lr": math.nan, "warmup": 2, "weight_decay": -1, "beta_2": 1}.items()


test_a_bad_recipe_is_refused_by_name = refuses(
    *((lambda bad=bad: Recipe(**{"steps": 5} | dict([bad])), bad[0]) for bad in (*BAD_SIZES, *BAD_KINDS))
)


def test_the_optimizer_is_the_one_of_the_recipe():
    objective = toy_objective("mlm")
    groups = adamw(objective, Recipe(5, 2e-3, weight_decay=0.3, beta_2=0.98)).param_groups
    assert [group["weight_decay"] for group in groups] == [0.3, 0.0]
    assert all(group["betas"] == (0.9, 0.98) and group["lr"] == 2e-3 for group in groups)
    assert {p.dim() for p in groups[0]["params"]} == {2} and {p.dim() for p in groups[1]["params"]} == {1}
    assert sum(len(group["params"]) for group in groups) == len(list(objective.parameters()))


def test_muon_takes_the_matrices_and_leaves_tables_and_vectors_to_adamw():
    objective = toy_objective("mlm")
    adam, muon = optimizers(objective, Recipe(5, 2e-3, muon=0.05))
    taken = {id(p) for p in muon.param_groups[0]["params"]}
    layers = {id(m.weight) for m in objective.modules() if isinstance(m, nn.Linear)}
    assert taken == layers and muon.defaults["lr"] == 0.05
    rest = {id(p) for p in objective.parameters()} - taken
    assert {id(p) for g in adam.param_groups for p in g["params"]} == rest


@pytest.mark.parametrize("shape", [(6, 6), (4, 9), (9, 4)])
def test_a_step_of_muon_is_as_long_in_every_direction(shape):
    """All singular values near one, and the singular vectors of the gradient: not its own, uneven ones."""
    g = seeded()
    p = nn.Parameter(torch.zeros(shape))
    left, _, right = torch.linalg.svd(torch.randn(shape, generator=g), full_matrices=False)
    p.grad = left @ torch.diag(torch.logspace(0, -1, min(shape))) @ right
    Muon([p], lr=0.1).step()
    step = -p.detach() / (0.1 * max(1, shape[0] / shape[1]) ** 0.5)
    inside = left.T @ step @ right.T
    assert inside.diagonal().min() > 0.6 and inside.diagonal().max() < 1.3
    torch.testing.assert_close(inside, torch.diag(inside.diagonal()), atol=1e-4, rtol=0)


def test_both_rates_rise_and_fall_together():
    trainer = toy_trainer(steps=20, muon=0.05)
    for step in range(20):
        trainer.advance()
        adam, muon = (o.param_groups[0]["lr"] for o in trainer.optimizers)
        assert adam == trainer.recipe.rate(step) and muon == pytest.approx(adam * 0.05 / trainer.recipe.lr)


@pytest.mark.slow
@pytest.mark.parametrize("muon", [None, 0.05])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_restored_run_ends_with_the_same_bits(name, muon):
    whole, first = (toy_trainer(name, muon=muon) for _ in range(2))
    advance(whole, 12)
    advance(first, 5)
    torch.manual_seed(99)  # whatever else happened to the random state in between
    second = Trainer(toy_objective(name, 0.1), GrammarSource(TOY, 16, 0), Recipe(12, muon=muon))
    second.restore(weights(first))
    evaluate(second.objective, hold_out(second.objective, GrammarSource(TOY, 8, -1), 1))
    advance(second, 7)
    torch.testing.assert_close(weights(whole), weights(second), rtol=0, atol=0)


def advanced(trainer: Trainer) -> Trainer:
    trainer.advance()
    return trainer


test_what_cannot_go_on_is_refused = refuses(
    (lambda: toy_trainer("causal").restore(toy_trainer().state()), "not a state of this model"),
    (lambda: toy_trainer().restore({}), "not a state of this model"),
    (lambda: advanced(advanced(toy_trainer(steps=1))), "all 1 steps"),
    (lambda: Muon([nn.Parameter(torch.zeros(3))], lr=0.1), r"two axes.*\(3,\)"),
)


def test_divergence_is_an_error_and_not_a_nan():
    trainer = toy_trainer()
    with torch.no_grad():
        trainer.objective.model.head.bias.fill_(math.inf)
    with pytest.raises(FloatingPointError, match="diverged"):
        trainer.advance()
    assert all(p.isfinite().all() for n, p in trainer.objective.named_parameters() if n != "model.head.bias")


def test_clipping_bounds_the_gradient():
    trainer = toy_trainer(clip=1e-3)
    trainer.advance()
    norm = torch.cat([p.grad.flatten() for p in trainer.objective.parameters()]).norm()
    assert norm <= 1e-3 * 1.001


@pytest.mark.parametrize("line", ["nothing", "[]", '{"lr": 1}', '{"step": "1"}', "\xff"])
def test_a_damaged_log_is_named_to_a_reader_and_cut_by_a_run(tmp_path, line):
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"step": 1, "lr": 1}\n' + line.encode("latin-1") + b'\n{"step": 2, "lr": 1}\n')
    with pytest.raises(ValueError, match="damaged in line 2"):
        read_log(log)
    assert rewind(log, 5) == read_log(log) == [{"step": 1, "lr": 1}]


def test_the_log_holds_every_step_and_forgets_what_was_undone(tmp_path):
    log = tmp_path / "log.jsonl"
    trainer = toy_trainer(steps=6)
    held_out = hold_out(trainer.objective, GrammarSource(TOY, 32, -1), 1)
    told = []
    records = train(trainer, held_out=held_out, evaluate_every=3, log=log, tell=told.append)
    assert records == read_log(log)
    assert [r["step"] for r in records if "lr" in r] == [1, 2, 3, 4, 5, 6]
    assert [r["step"] for r in told] == [3, 6]
    assert all(r["floor"] == held_out.floor and r["held_out_mlm"] > 0 for r in told)
    with log.open("a") as file:
        file.write('{"step": 7, "lr"')  # cut in half by a kill
    again = toy_trainer(steps=8)
    advance(again, 4)
    train(again, log=log)
    assert [r["step"] for r in read_log(log) if "lr" in r] == list(range(1, 9))
    kept, before = ([r for r in log if r["step"] <= 4 and "mlm" in r] for log in (read_log(log), records))
    assert kept == before
    assert all(json.loads(line) for line in log.read_text().splitlines())


def test_a_stop_ends_after_the_step():
    trainer = toy_trainer()
    answers = iter([False, False, True])
    train(trainer, stop=lambda: next(answers))
    assert trainer.step == 3


def test_evaluation_changes_nothing_and_repeats():
    trainer = toy_trainer()
    held_out = hold_out(trainer.objective, GrammarSource(TOY, 32, -1), 2)
    before = weights(trainer)
    assert evaluate(trainer.objective, held_out) == evaluate(trainer.objective, held_out)
    torch.testing.assert_close(before, weights(trainer), rtol=0, atol=0)


# Saved models


@pytest.mark.parametrize("pre_norm", [False, True])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_saved_model_says_the_same(tmp_path, name, pre_norm):
    objective = toy_objective(name, pre_norm=pre_norm).eval()
    batch = objective.draw(GrammarSource(TOY, 8, 0), 0)
    for dtype, tolerance in ((torch.float32, 0), (torch.float16, 1e-2)):
        save(tmp_path, objective.model, Tokenizer.of_words(TOY.vocabulary), dtype)
        model, tokenizer = load(tmp_path)
        assert tokenizer.vocabulary == TOY.vocabulary
        assert torch.allclose(OBJECTIVES[name](model).eval()(batch), objective(batch), rtol=tolerance, atol=0)


test_an_objective_goes_on_only_from_its_own_kind_of_model = refuses(
    (
        lambda: OBJECTIVES["mlm+nsp"](toy_objective("mlm").model),
        "must be a Config or a PairsLM, got MaskedLM",
    ),
    error=TypeError,
)


# Fine-tuning


def sentences(count: int = 64) -> list[list[int]]:
    drawn = GrammarSource(TOY, count, 7).sentences(0)
    return [row[row != PAD].tolist() for row in drawn]


def fresh_encoder():
    torch.manual_seed(1)
    return toy_objective("mlm+nsp").model.encoder


def ids_of(*words: str) -> list[int]:
    return [TOY.vocabulary.ids[word] for word in words]


def with_verb_or_not() -> tuple[type, Labelled]:
    rows, verbs = sentences(), {*ids_of("corre", "dorme")}
    return SequenceHead, labelled(rows, torch.tensor([int(not verbs.isdisjoint(row)) for row in rows]))


def articles_and_nouns() -> tuple[type, Labelled]:
    kinds = torch.full((len(TOY),), IGNORE_INDEX)
    kinds[ids_of("o", "um", "a", "uma")] = 0
    kinds[ids_of("gato", "rato", "pato", "gata", "porta", "casa")] = 1
    examples = labelled(sentences(), torch.empty(0))
    return TokenHead, examples._replace(target=kinds[examples.ids])


def where_the_noun_stands() -> tuple[type, Labelled]:
    rows, nouns = sentences(), ids_of("gato", "rato", "pato")
    at = [next(i for i, word in enumerate(row) if word in nouns) for row in rows]
    return SpanHead, labelled(rows, torch.tensor([[i - 1, i] for i in at]))  # article and noun


def same_first_word() -> tuple[type, Labelled]:
    pairs = GrammarSource(TOY, 64, 7).pairs(0)
    rows = [row[:n].tolist() for row, n in zip(pairs.ids, pairs.lengths, strict=True)]
    same = torch.tensor([int(row[1] == row[row.index(SEP) + 1]) for row in rows])
    return PairHead, labelled(rows, same)._replace(segments=pairs.segment_ids)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "epochs"),
    [(with_verb_or_not, 15), (articles_and_nouns, 4), (where_the_noun_stands, 20), (same_first_word, 30)],
)
def test_a_task_is_learnt(task, epochs):
    kind, examples = task()
    encoder = fresh_encoder()
    head = kind(encoder.config, *([] if kind is SpanHead else [2]))
    model = fine_tune(encoder, head, examples, epochs=epochs, batch=16, lr=5e-3)
    assert accuracy(model, examples) > (0.95 if kind in (SequenceHead, TokenHead) else 0.9)
    assert not model.training and predict(model, examples).shape == examples.target.shape


@pytest.mark.guards("05.s32")
@pytest.mark.parametrize("freeze", ["encoder", 0, 1, 2])
def test_what_is_frozen_stays_to_the_last_bit(freeze):
    encoder = fresh_encoder()
    before = copy.deepcopy(encoder.state_dict())
    examples = labelled(sentences(8), torch.arange(8) % 2)
    fine_tune(encoder, SequenceHead(encoder.config, 2), examples, epochs=1, batch=4, freeze=freeze)
    blocks = 2 if freeze == "encoder" else freeze
    frozen = tuple(f"blocks.{i}." for i in range(blocks)) + (("embeddings.",) if freeze else ())
    for name, tensor in encoder.state_dict().items():
        stayed = torch.equal(tensor, before[name])
        # A key's bias moves all scores of a row together, which the softmax ignores: it may well stay.
        assert stayed if name.startswith(frozen) else not stayed or name.endswith("W_K.bias"), name
    assert all(p.requires_grad for p in encoder.parameters())


def test_fine_tuning_repeats():
    runs = []
    for _ in range(2):
        encoder = fresh_encoder()
        torch.manual_seed(2)
        head = SequenceHead(encoder.config, 2)
        runs.append(fine_tune(encoder, head, labelled(sentences(16), torch.arange(16) % 2), epochs=2))
    torch.testing.assert_close(*(run.state_dict() for run in runs), rtol=0, atol=0)


def test_some_words_are_hidden_while_tuning_and_nothing_else_changes():
    words, examples = TOY.vocabulary, labelled(sentences(200), torch.arange(200) % 2)
    made = hide_tokens(examples, 0.3, words, seeded(1))
    at = made.ids != examples.ids
    assert (made.ids[at] == MASK).all() and words.is_ordinary(examples.ids[at]).all()
    assert binomtest(int(at.sum()), int(words.is_ordinary(examples.ids).sum()), 0.3).pvalue > 1e-9
    assert made._replace(ids=examples.ids) == examples
    heads = [tuned(hide=hide, vocabulary=words).head.W.weight for hide in (0.0, 0.3, 0.3)]
    assert torch.equal(heads[1], heads[2]) and not torch.equal(heads[0], heads[1])


def tuned(**options):
    """A head over four sentences, in training mode again."""
    encoder = fresh_encoder()
    return fine_tune(encoder, SequenceHead(encoder.config, 2), FOUR, epochs=1, **options).train()


FOUR = labelled(sentences(4), torch.zeros(4).long())
test_bad_fine_tuning_is_refused = refuses(
    *((lambda freeze=freeze: tuned(freeze=freeze), "freeze") for freeze in (3, -1, True, "all")),
    (lambda: predict(tuned(), FOUR), "eval"),
    (lambda: tuned(hide=0.1), "hide=0.1 needs the vocabulary"),
)
