"""What the third document gets wrong, shown to be wrong: each test is the guard of entries of the errata."""

import math

import numpy as np
import pytest
import torch
from tokenizers import models

from lib.attention import Trace, attention, causal_mask, softmax
from lib.encoder import Config, Encoder
from lib.heads import MaskedLM
from lib.parameters import LLAMA_3, count, count_llama
from lib.presets import preset
from lib.sources import CORRECTED, compare, example
from lib.tokenizer import Tokenizer, greedy_wordpiece
from lib.weights import minilm


def printed(id, figure):
    return np.array(example(id).figures[figure].content, dtype=float)


def head(id):
    """Q, K, V of the example."""
    given = example(id).inputs
    x, *projections = (torch.tensor(given[n], dtype=torch.float64) for n in ("X", "W_Q", "W_K", "W_V"))
    return tuple(x @ w for w in projections)


# Attention


@pytest.mark.guards("02.s7", "03.s5", "03.s50", "05.s14")
def test_weights_that_react_to_a_token_say_nothing_of_what_its_value_delivers():
    q, k = torch.tensor([[5.0]]), torch.tensor([[1.0], [0.0]])
    other, v = torch.tensor([[1.0], [2.0]]), torch.tensor([[0.0, 0.0], [3.0, 0.0]])
    h, a = attention(q, k, v)
    assert a[0, 0] > 0.99 and torch.equal(h, a[:, 1:] * v[1]), "a large weight on an empty value"
    assert not torch.equal(a, attention(q, other, v)[1]), "the weights depend on the second token"
    assert torch.equal(attention(q, k, 0 * v)[0], attention(q, other, 0 * v)[0]), "the output need not"


@pytest.mark.guards("03.s8")
def test_the_first_printed_weights_are_no_softmax_of_the_scores():
    q, k, _ = head("03.1")
    row = printed("03.1", "pesos")[0]
    for scale in (1, math.sqrt(3)):
        assert abs(row - softmax((q @ k.T)[0] / scale).numpy()).max() > 0.02
    assert round(row[2] / row[0], 6) == 3 != round(math.exp(1 / math.sqrt(3)), 6)


@pytest.mark.guards("03.s9")
def test_output_equals_weights_in_the_first_example_only_because_the_values_are_the_identity():
    q, k, v = head("03.1")
    h, a = attention(q, k, v)
    assert torch.equal(v, torch.eye(3, dtype=torch.float64)) and torch.equal(h, a)
    h, a = attention(*head("03.8"))
    assert not torch.allclose(h, a)


@pytest.mark.guards("03.s51")
def test_the_printed_weights_of_two_tokens_lack_the_square_root():
    q, k, _ = head("03.8")
    document = printed("03.8", "pesos")
    np.testing.assert_allclose(document, softmax(q @ k.T), atol=5e-4)
    assert abs(document - softmax(q @ k.T / math.sqrt(2)).numpy()).max() > 0.06


@pytest.mark.guards("03.s3", "03.s10", "03.s11", "03.s52", "03.s53", "03.s54", "03.s55", "03.s56")
def test_scores_weights_and_outputs_of_two_tokens_are_different_matrices():
    q, k, v = head("03.8")
    h, a = attention(q, k, v)
    different = [q @ k.T, q @ k.T / math.sqrt(2), a, h]
    assert all(not torch.allclose(x, y) for i, x in enumerate(different) for y in different[:i])
    read_in_a, read_in_o = printed("03.8", "lida_em_A"), printed("03.8", "lida_em_O")
    assert read_in_a.min() < 0 < a.min(), "a weight cannot be negative"
    assert not torch.allclose(h.sum(-1), torch.ones(2, dtype=torch.float64)), "rows of H need not add up to 1"
    assert read_in_a[1] != read_in_o[1], "the two readings contradict each other on (2, 1)"
    assert example("03.8").figures["O"].content == example("03.8").figures["saida"].content
    torch.testing.assert_close(torch.linalg.solve(a, h), v, msg="the only B with A B = H is V")
    x = torch.tensor(example("03.8").inputs["X"], dtype=torch.float64)
    assert x.min() >= 0 > h.min(), "outputs combine values: here they leave the square of the embeddings"
    assert not torch.allclose(a @ x, h)


@pytest.mark.guards("03.s6")
def test_one_attention_is_not_the_output_of_a_block():
    torch.manual_seed(0)
    encoder = Encoder(Config(10, d=8, heads=2, layers=1, positions=5)).eval()
    hidden = encoder(torch.tensor([[1, 2, 3]]), trace=(trace := Trace()))
    assert not torch.allclose(trace.heads[0].transpose(1, 2).flatten(2), hidden, atol=1e-3)


@pytest.mark.guards("03.s49")
def test_a_score_is_not_a_similarity():
    q, k, _ = head("03.1")
    s = q @ k.T
    assert not torch.equal(s, s.T), "not symmetric"
    assert (s.diagonal() < s.max(-1).values).all(), "a token is not the most similar to itself"


# The mask


@pytest.mark.guards("03.s17")
def test_the_causal_context_of_a_word_includes_the_word():
    tokens = example("03.2").inputs["tokens"]
    i = tokens.index("pulou")
    seen = [t for t, allowed in zip(tokens, causal_mask(4)[i], strict=True) if allowed]
    assert compare("03.2", causal=seen).verdict == CORRECTED
    assert set(seen) - set(example("03.2").figures["causal"].content) == {"pulou"}


@pytest.mark.guards("03.s2")
def test_a_decoder_only_model_has_no_cross_attention():
    """The decoder of Vaswani has two attentions in a block; a decoder-only model has one, like an encoder."""
    (block,) = Encoder(preset("gpt-1", layers=1, vocab_size=9)).blocks
    parts = {name.split(".")[0] for name, _ in block.named_parameters()}
    assert parts == {"attention", "norm_1", "feed_forward", "norm_2"}


# Subwords


@pytest.mark.guards("03.s26", "03.s29")
def test_o_is_missing_from_the_vocabulary_of_words_too():
    data = example("03.3").inputs
    missing = [w for w in data["frase"].split() if w not in data["vocabulario_palavras"]]
    assert missing == ["o", "gatinho"]
    assert compare("03.3", fora_do_vocabulario=missing).verdict == CORRECTED


@pytest.mark.guards("03.s24", "03.s27")
def test_the_subword_vocabulary_is_larger_and_loses_words():
    data = example("03.3").inputs
    words, pieces = data["vocabulario_palavras"], data["vocabulario_subpalavras"]
    assert len(pieces) > len(words)
    unknown = [w for w in words if greedy_wordpiece(w, pieces).tokens == ["[UNK]"]]
    assert unknown == ["gato", "cachorro", "pula"]
    assert greedy_wordpiece("gatinho", pieces).tokens == ["gat", "##inho"]
    assert greedy_wordpiece("gatinho", [*pieces, "gati"]).tokens == ["[UNK]"], "one piece more, one word less"


@pytest.mark.guards("03.s46", "03.s47")
def test_cor_is_in_two_of_the_three_words_and_is_the_word_for_colour_too():
    data = example("03.7").inputs
    cuts = {w: greedy_wordpiece(w, data["vocabulario"]).tokens for w in (*data["palavras"], "cor")}
    assert list(cuts.values()) == [["correr"], ["cor", "##rendo"], ["cor", "##reu"], ["cor"]]
    assert compare("03.7", com_cor=2).verdict == CORRECTED


@pytest.mark.guards("03.s45")
def test_caozinho_and_caezinhos_share_no_first_piece():
    """The document's "cãezinho" is no word; the plural, "cãezinhos", changes the stem."""
    pieces = [*example("03.6").inputs["vocabulario"], "##s"]
    assert greedy_wordpiece("cãozinho", pieces).tokens == ["cão", "##zinho"]
    assert greedy_wordpiece("cãezinhos", pieces).tokens == ["[UNK]"]


@pytest.mark.guards("02.s64", "03.s30")
def test_sentencepiece_is_a_library_and_unigram_an_algorithm():
    assert {"Unigram", "WordPiece"} <= set(dir(models)) and "SentencePiece" not in dir(models)


@pytest.mark.guards("03.s43")
def test_different_pieces_start_with_unrelated_vectors():
    torch.manual_seed(0)
    table = Encoder(Config(200, d=256, heads=2, layers=1, positions=4)).embeddings.token.weight.detach()
    cosines = torch.cosine_similarity(table[1:100], table[100:199], dim=-1)
    assert abs(float(cosines.mean())) < 0.05 and float(cosines.abs().max()) < 0.4


@pytest.mark.guards("03.s44")
def test_trained_vectors_of_relatives_are_close_without_any_shared_piece():
    table, tokenizer = minilm().embeddings.token.weight.detach(), Tokenizer.minilm()

    def cosine(a, b):
        first, second = (table[tokenizer.vocabulary.id_of(word)] for word in (a, b))
        return float(torch.cosine_similarity(first, second, dim=0))

    assert cosine("run", "ran") > 0.6 > 0.3 > cosine("car", "carpet")


# Sizes


@pytest.mark.guards("03.s25", "03.s31", "03.s32", "03.s33", "03.s34")
def test_the_sizes_of_bert_and_of_xlm_r():
    bert, large = preset("bert-base"), preset("xlm-r-large")
    assert (bert.vocab_size, large.vocab_size) == (30_522, 250_002), "not round, and a choice"
    assert (bert.layers, bert.heads, bert.d // bert.heads, large.heads) == (12, 12, 64, 16)
    counted = count(bert)
    assert counted.attention == 12 * 4 * (768**2 + 768), "twelve layers in a block would be 12 times more"
    assert round(counted.total / 1e6) == 109 and round(count(large).total / 1e6) == 560
    assert compare("03.4", bert=counted.total).verdict == CORRECTED


@pytest.mark.guards("03.s35", "03.s36")
def test_llama_3_is_a_family_and_an_encoder_as_deep_and_wide_is_as_large():
    sizes = {name: count_llama(config).total for name, config in LLAMA_3.items()}
    assert [round(size / 1e9) for size in sizes.values()] == [8, 71, 406]
    assert [config.layers for config in LLAMA_3.values()] == [32, 80, 126]
    config = LLAMA_3["llama-3-405b"]
    encoder = preset("bert-base", layers=config.layers, d=config.d, d_ff=4 * config.d, heads=config.heads)
    assert count(encoder).total == pytest.approx(sizes["llama-3-405b"], rel=0.01)


@pytest.mark.guards("03.s39", "03.s40", "03.s59")
def test_the_blocks_of_bert_and_gpt_1_have_the_same_size_and_encoders_are_found_on_either_side():
    bert, gpt, large = (count(preset(name)) for name in ("bert-base", "gpt-1", "bert-large"))
    gap = bert - gpt
    assert gap.attention == gap.feed_forward == 0
    assert gap.token_embeddings == (30_522 - 40_478) * 768
    assert gap.total == gap.token_embeddings + gap.segment_embeddings + gap.norms + gap.pooler < 0
    assert bert.total < gpt.total < count(preset("roberta-base")).total < 335_000_000 < large.total
    assert (preset("bert-large").layers, preset("bert-large").d) == (24, 1024)
    assert (preset("xlm-r-base").layers, preset("xlm-r-large").layers) == (12, 24)


@pytest.mark.guards("03.s37")
def test_a_masked_model_gives_a_distribution_too():
    torch.manual_seed(0)
    model = MaskedLM(Config(30, d=8, heads=2, layers=1, positions=6)).eval()
    probabilities = torch.softmax(model(torch.tensor([[2, 4, 7, 3]])), -1)
    assert probabilities.shape == (1, 4, 30)
    torch.testing.assert_close(probabilities.sum(-1), torch.ones(1, 4))


# Diagrams


DRAW = """async (text) => {
    try { await mermaid.render("figura", text); return "drawn" } catch (error) { return String(error) }
}"""


BOXES = """async (text) => {
    const {svg} = await mermaid.render("figura", text);
    return new DOMParser().parseFromString(svg, "text/html").querySelectorAll("g.node").length
}"""


@pytest.mark.guards("01.s9", "01.s32", "03.s21", "03.s28")
def test_mermaid_refuses_the_diagrams_of_the_documents(page, book_url):
    tokens = example("01.2").inputs["tokens"]
    arrows = [f"{t}[{t}] --> {u}_{t}({u})" for i, t in enumerate(tokens) for u in tokens[: i + 1]]
    numbered = ",".join(example("01.2").figures["setas_numeradas"].content)
    ten_arrows = "\n".join(["graph LR", *arrows, "linkStyle {} stroke:#ddd,stroke-width:1px"])
    page.goto(f"{book_url}/book/intro.html")
    page.add_script_tag(path="book/_static/vendor/bundles/mermaid.js")
    for good, bad in [
        (ten_arrows.format("0,9"), ten_arrows.format(numbered)),  # which styles arrows 10 to 13 of ten
        ('graph LR\n A["a frase"] --> B', 'graph LR\n A[Frase: "o gatinho corre rapidamente"] --> B'),
        ('graph LR\n A --> F["Softmax(QK^T)V"]', "graph LR\n A --> F[Softmax(QK^T/sqrt(dk))V]"),
    ]:
        assert page.evaluate(DRAW, good) == "drawn"
        assert "rror" in page.evaluate(DRAW, bad)
    painted = example("01.2").figures["relacoes_apagadas"].content
    styles = "\n".join(f"style {name} fill:#ddd" for name in painted)
    plain = ten_arrows.format("0")
    boxes = [page.evaluate(BOXES, text) for text in (plain, f"{plain}\n{styles}")]
    assert boxes[1] - boxes[0] == len(painted), "each name that is painted and not drawn is a box of its own"
