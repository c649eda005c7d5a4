"""What the fifth document gets wrong or leaves open, shown: each test guards an entry of the errata."""

import pytest
import torch
import transformers
from torch import nn

from lib.corpus import tasks
from lib.encoder import Block, Config, Encoder
from lib.geometry import anisotropy, standardize
from lib.heads import FineTuned, SequenceHead
from lib.vocabulary import PAD
from tests.randomness import normal, seeded
from tests.reference import reference

SMALL = Config(40, d=8, layers=2, heads=2, positions=12, dropout=0.0)


@pytest.mark.guards("05.s9")
def test_the_block_is_the_encoder_layer_of_2017():
    """With ReLU, our block and torch's layer of the original Transformer are one function."""
    torch.manual_seed(0)
    config = Config(10, d=8, layers=1, heads=2, d_ff=16, activation="relu", dropout=0.0, norm_eps=1e-5)
    ours, theirs = Block(config), nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    a = ours.attention
    with torch.no_grad():
        theirs.self_attn.in_proj_weight.copy_(torch.cat([a.W_Q.weight, a.W_K.weight, a.W_V.weight]))
        theirs.self_attn.in_proj_bias.copy_(torch.cat([a.W_Q.bias, a.W_K.bias, a.W_V.bias]))
    theirs.self_attn.out_proj.load_state_dict(a.W_O.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.W_1.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.W_2.state_dict())
    theirs.norm1.load_state_dict(ours.norm_1.state_dict())
    theirs.norm2.load_state_dict(ours.norm_2.state_dict())
    x = torch.randn(2, 5, 8, generator=seeded())
    torch.testing.assert_close(ours(x), theirs(x))


@pytest.mark.guards("05.s12")
def test_the_encoder_has_no_output_layer():
    parts = {name.partition(".")[0] for name, _ in Encoder(SMALL).named_parameters()}
    assert parts == {"embeddings", "blocks", "pooler"}


@pytest.mark.guards("05.s31")
def test_the_loop_of_the_document_needs_a_tensor_and_a_mask():
    """A model that returns an object has no `view`; and nothing tells it where the padding is."""
    model = reference("bert", kind=transformers.AutoModelForMaskedLM)
    ids = torch.randint(5, 40, (2, 6), generator=seeded())
    told = model(ids)
    assert not hasattr(told, "view") and told.logits.shape == (2, 6, 61)
    padded = nn.functional.pad(ids, (0, 4), value=PAD)
    assert not torch.allclose(model(padded).logits[:, :6], told.logits, atol=1e-6)


@pytest.mark.guards("05.s33")
def test_without_a_bias_a_zero_vector_cannot_prefer_a_class():
    W = torch.randn(3, 8, generator=seeded())
    assert torch.allclose((W @ torch.zeros(8)).softmax(0), torch.full((3,), 1 / 3))
    head = SequenceHead(SMALL, 3)
    assert head.W.bias is not None and FineTuned(Encoder(SMALL), head).encoder.pooler is not None


@pytest.mark.guards("05.s35")
def test_entailment_has_a_direction():
    for first, second in tasks.RELATIONS[tasks.ENTAILMENT]:
        assert (second, first) in tasks.RELATIONS[tasks.NEUTRAL]


@pytest.mark.guards("05.s42")
def test_one_deviation_for_all_dimensions_leaves_the_loud_one_loud():
    x = normal(0, 300, 4) * torch.tensor([100.0, 1, 1, 1])
    scalar = (x - x.mean()) / x.std()
    assert scalar.var(0)[0] / scalar.var(0).sum() > 0.99
    assert torch.allclose(standardize(x).var(0, correction=0), torch.ones(4).double())


@pytest.mark.guards("05.s44")
def test_standardizing_does_not_make_vectors_isotropic():
    t = normal(0, 300, 1)
    z = standardize(torch.cat([t, 2 * t + 1], 1))
    assert abs(anisotropy(z)) < 0.05
    assert torch.linalg.matrix_rank(z) == 1, "all of them still lie on one line"


@pytest.mark.guards("05.s45")
def test_standardizing_gives_a_linear_classifier_nothing_new():
    x, W, b = normal(0, 50, 6), normal(1, 3, 6), normal(2, 3)
    mu, sigma = x.mean(0), x.std(0, correction=0)
    torch.testing.assert_close(standardize(x) @ W.T + b, x @ (W / sigma).T + (b - W @ (mu / sigma)))


@pytest.mark.guards("05.s50")
def test_what_is_drawn_on_the_cpu_does_not_meet_tokens_elsewhere():
    tokens = torch.ones(2, 3, dtype=torch.long, device="meta")  # any device that is not the CPU
    with pytest.raises(RuntimeError, match="device"):
        _ = torch.rand(tokens.shape).lt(0.15) * (tokens != PAD)
    assert (torch.rand(tokens.shape, device=tokens.device).lt(0.15) * (tokens != PAD)).shape == (2, 3)
