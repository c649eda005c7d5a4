"""The finish lines: the course's own file passes all of them, and a seeded defect is found and named."""

import pytest
import torch

from lib.exercises.departures import first_departure
from lib.exercises.finish import (
    LINES,
    apart_in_transformers,
    encoder_weights,
    leaks_nothing,
    linha_de_chegada,
    loaded,
    naive_bayes,
    reading,
)
from lib.exercises.workshop import course_file
from lib.weights import minilm

SIZES, HEADS = (30_522, 384, 12, 1536, 6), 12

# Of the student's file: what is written instead of what; then where the check must look, and what it says.
ATTENTION = "bloco 1, pesos da atenção"
DEFECTS = {
    "no position": (" + self.position(lugar)", "", "embeddings, soma das três tabelas", "falta a posição"),
    "position from one": (
        "self.position(lugar)",
        "self.position(lugar + 1)",
        "embeddings, soma das três tabelas",
        "começam em um",
    ),
    "no segment": (" + self.segment(segmentos)", "", "embeddings, soma das três tabelas", "falta o segmento"),
    "segment row": (
        "self.segment(segmentos)",
        "self.segment(1 - segmentos)",
        "embeddings, soma",
        "outra linha",
    ),
    "first segment": (
        "self.segment(segmentos)",
        "self.segment(0 * segmentos)",
        "embeddings, soma",
        "sempre o primeiro",
    ),
    "embedding norm": (
        "return self.norm(x)  #",
        "return x  #",
        "embeddings, o que sai",
        "falta a normalização",
    ),
    "no scale": (" / math.sqrt(q.shape[-1])", "", ATTENTION, "falta a escala"),
    "scale without root": ("math.sqrt(q.shape[-1])", "q.shape[-1]", ATTENTION, "divisão é por d_k"),
    "scale of the model": (
        "math.sqrt(q.shape[-1])",
        "math.sqrt(q.shape[-1] * q.shape[1])",
        ATTENTION,
        "raiz de d, e não a de d_k",
    ),
    "scale multiplies": ("@ k.transpose(-2, -1) /", "@ k.transpose(-2, -1) *", ATTENTION, "multiplica"),
    "mask inverted": ("masked_fill(~mascara", "masked_fill(mascara", ATTENTION, "invertida"),
    "mask forgotten": (
        "real[:, None, :]\n        estados",
        "real[:, None, :] | True\n        estados",
        ATTENTION,
        "não esconde",
    ),
    "causal mask": ("if self.causal else real", "if not self.causal else real", ATTENTION, "máscara causal"),
    "softmax over columns": (
        "a = softmax_estavel(s.masked_fill(~mascara, -math.inf))",
        "a = torch.softmax(s.masked_fill(~mascara, -math.inf), -2)",
        ATTENTION,
        "colunas",
    ),
    "mask after softmax": (
        "softmax_estavel(s.masked_fill(~mascara, -math.inf))",
        "softmax_estavel(s) * mascara",
        ATTENTION,
        "depois da softmax",
    ),
    "heads interleaved": (
        "x = x.reshape(B, N, h, d // h)\n    return x.transpose(1, 2)",
        "return x.reshape(B, N, d // h, h).permute(0, 3, 1, 2)",
        ATTENTION,
        "número a número",
    ),
    "heads by a view": (
        "x = x.reshape(B, N, h, d // h)\n    return x.transpose(1, 2)",
        "return x.reshape(B, h, N, d // h)",
        ATTENTION,
        "misturam posições",
    ),
    "queries and keys": (
        "(self.W_Q, self.W_K, self.W_V)",
        "(self.W_K, self.W_Q, self.W_V)",
        ATTENTION,
        "trocadas",
    ),
    "heads joined askew": (
        "saida.transpose(1, 2).flatten(2)",
        "saida.reshape(x.shape)",
        "bloco 1, junção das cabeças",
        "falta trocar os eixos",
    ),
    "no output projection": (
        "self.W_O(juntas), pesos",
        "juntas, pesos",
        "bloco 1, soma residual da atenção",
        "não passa por W_O",
    ),
    "bias never made": (
        "self.W_V, self.W_O = nn.Linear(d, d), nn.Linear(d, d)",
        "self.W_V, self.W_O = nn.Linear(d, d, bias=False), nn.Linear(d, d)",
        "bloco 1, projeção W_V",
        "falta o parâmetro bias",
    ),
    "bias not added": (
        "(separar_cabecas(W(x), self.h) for",
        "(separar_cabecas(x @ W.weight.T, self.h) for",
        ATTENTION,
        "na projeção W_Q, falta somar o viés",
    ),
    "weights transposed": (
        "(separar_cabecas(W(x), self.h) for",
        "(separar_cabecas(x @ W.weight + W.bias, self.h) for",
        ATTENTION,
        "em W_Q e em W_K, a matriz está transposta",
    ),
    "keys are queries": (
        "(self.W_Q, self.W_K, self.W_V)",
        "(self.W_Q, self.W_Q, self.W_V)",
        ATTENTION,
        "as chaves são as consultas",
    ),
    "values are keys": (
        "(self.W_Q, self.W_K, self.W_V)",
        "(self.W_Q, self.W_K, self.W_K)",
        "bloco 1, junção das cabeças",
        "os valores são as chaves",
    ),
    "values without their projection": (
        "atencao(q, k, v, mascara)  #",
        "atencao(q, k, separar_cabecas(x, self.h), mascara)  #",
        "bloco 1, junção das cabeças",
        "os valores são a própria entrada",
    ),
    "mask with the other sign": (
        "s.masked_fill(~mascara, -math.inf)",
        "s + 1e9 * ~mascara",
        ATTENTION,
        "com o sinal trocado",
    ),
    "mask added as it is": ("s.masked_fill(~mascara, -math.inf)", "s + mascara", ATTENTION, "zeros e uns"),
    "heads joined backwards": (
        "saida.transpose(1, 2).flatten(2)",
        "saida.flip(1).transpose(1, 2).flatten(2)",
        "bloco 1, junção das cabeças",
        "da última para a primeira",
    ),
    "norm along the sentence": (
        "return self.norm(x)  #",
        "x = (x - x.mean(1, True)) / (x.var(1, correction=0, keepdim=True) + 1e-12).sqrt()\n"
        "        return x * self.norm.weight + self.norm.bias  #",
        "embeddings, o que sai",
        "na normalização, a média corre pelas posições",
    ),
    "eps of a norm called by its function": (
        "self.norm_1(x + atendido)",
        "nn.functional.layer_norm(x + atendido, x.shape[-1:], self.norm_1.weight, self.norm_1.bias)",
        "bloco 1, entrada do feed-forward",
        "na primeira normalização, o eps é 1e-05",
    ),
    "residual of the whole block": (
        "x = self.norm_1(x + atendido)\n        interno = nn.functional.gelu(self.W_1(x))",
        "y = self.norm_1(x + atendido)\n        interno = nn.functional.gelu(self.W_1(y))",
        "bloco 1, soma residual do feed-forward",
        "o que entrou no bloco",
    ),
    "dropout left on": (
        "self.norm_1(x + atendido)",
        "self.norm_1(x + nn.functional.dropout(atendido, 0.1))",
        "bloco 1, soma residual da atenção",
        "há um dropout ligado?",
    ),
    "bias of the feed-forward": (
        "self.W_2(interno)",
        "(interno @ self.W_2.weight.T)",
        "bloco 1, soma residual do feed-forward",
        "na projeção W_2, falta somar o viés",
    ),
    "no residual": (
        "self.norm_1(x + atendido)",
        "self.norm_1(atendido)",
        "bloco 1, soma residual da atenção",
        "o que entrou",
    ),
    "no second residual": (
        "self.norm_2(x + self.W_2(interno))",
        "self.norm_2(self.W_2(interno))",
        "bloco 1, soma residual do feed-forward",
        "o que entrou",
    ),
    "norm before attention": (
        "self.attention(x, mascara)\n        x = self.norm_1(x + atendido)",
        "self.attention(self.norm_1(x), mascara)\n        x = x + atendido",
        "bloco 1, entrada da atenção",
        "depois da atenção",
    ),
    "norm before feed-forward": (
        "self.W_1(x))",
        "self.W_1(self.norm_2(x)))",
        "bloco 1, entrada do feed-forward",
        "",
    ),
    "tanh": ("gelu(self.W_1(x))", "gelu(self.W_1(x), approximate='tanh')", "bloco 1, GELU", "tanh"),
    "relu": ("nn.functional.gelu(self.W_1(x))", "self.W_1(x).relu()", "bloco 1, GELU", "ReLU"),
    "no activation": ("nn.functional.gelu(self.W_1(x))", "self.W_1(x)", "bloco 1, GELU", "não há ativação"),
    "eps of a norm": (
        "self.norm_1 = nn.LayerNorm(d, eps=1e-12)",
        "self.norm_1 = nn.LayerNorm(d)",
        "bloco 1, primeira normalização",
        "1e-05",
    ),
    "eps of the embeddings": (
        "self.norm = nn.LayerNorm(d, eps=1e-12)\n\n    def forward(self, ids",
        "self.norm = nn.LayerNorm(d)\n\n    def forward(self, ids",
        "embeddings, normalização",
        "1e-05",
    ),
    "no second norm": (
        "self.norm_2(x + self.W_2(interno))",
        "(x + self.W_2(interno))",
        "bloco 1, o que sai do bloco",
        "segunda normalização",
    ),
    "blocks backwards": ("for bloco in self.blocks:", "for bloco in self.blocks[::-1]:", "bloco 1", ""),
    "one block for all": ("bloco(estados[-1]", "self.blocks[0](estados[-1]", "bloco 2", ""),
    "all from the embeddings": (
        "bloco(estados[-1]",
        "bloco(estados[0]",
        "bloco 2, entrada da atenção",
        "dos embeddings",
    ),
}
UNBIASED = """

class UmaNorma(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))

    def forward(self, x):
        return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True) * self.weight + self.bias
"""


@pytest.fixture(scope="module")
def real():
    """The reading, and MiniLM's weights."""
    return reading(), encoder_weights(minilm().state_dict())


def departure(text, real):
    given, weights = real
    return first_departure(loaded(text).Codificador(*SIZES).double(), weights, HEADS, *given)


def test_the_courses_encoder_departs_nowhere(real):
    assert departure(course_file(), real) is None


@pytest.mark.parametrize("name", DEFECTS)
def test_a_seeded_defect_is_found_where_it_is(name, real):
    old, new, where, cause = DEFECTS[name]
    text = course_file()
    assert text.count(old) >= 1, "the defect has nowhere to go"
    found = departure(text.replace(old, new, 1), real)
    assert found is not None and str(found).startswith(where) and cause in str(found), found


def test_a_norm_of_ones_own_with_the_other_variance_is_named(real):
    text = (
        course_file().replace("self.norm_2 = nn.LayerNorm(d, eps=1e-12)", "self.norm_2 = UmaNorma(d)")
        + UNBIASED
    )
    assert "bloco 1, segunda normalização: a variância divide por d - 1" in str(departure(text, real))


def test_states_or_maps_that_are_missing_are_counted():
    text = course_file().replace("return estados, mapas", "return estados[1:], mapas")
    assert line(text, 3).told[0] == "O codificador devolve 6 estados e 6 mapas."


def test_a_later_layer_is_named_too(real):
    old = "x, pesos = bloco(estados[-1], mascara[:, None])"
    new = "x, pesos = bloco(estados[-1] + 1e-3 * (len(mapas) == 3), mascara[:, None])"
    assert str(departure(course_file().replace(old, new), real)).startswith("bloco 4, entrada da atenção")


@pytest.mark.slow
@pytest.mark.parametrize("chapter", LINES)
def test_the_courses_own_file_reaches_every_finish_line(chapter, tmp_path, capsys):
    file = tmp_path / "meu_bert.py"
    file.write_text(course_file(), encoding="utf-8")
    linha_de_chegada(chapter, str(file))
    out = capsys.readouterr().out
    assert out.endswith("✔ Linha de chegada!\n") and "0 de 12 peças suas" in out, out
    assert "True" not in out and "False" not in out


def line(text, chapter):
    return LINES[chapter](loaded(text))


def test_real_weights_tell_the_layers_and_the_first_departure():
    told = line(course_file().replace("approximate", "").replace("gelu(self.W_1(x))", "silu(self.W_1(x))"), 3)
    assert not told.passed and told.told[-1].startswith(
        "Onde os números se separam primeiro: bloco 1, GELU: é a SiLU"
    )
    assert told.told[0].startswith("embeddings") and len(told.told) == 8


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("i[None, :] <= i[:, None]", "i[None, :] < i[:, None] + 2", "A saída 1 muda quando muda o token 2"),
        (
            "i[None, :] <= i[:, None]",
            "(i[None, :] < i[:, None]) | (i == 0)",
            "A saída 2 não depende do token 2",
        ),
        (
            "a = softmax_estavel(s.masked_fill(~mascara, -math.inf))",
            "a = softmax_estavel(s) * mascara",
            "A saída 1 muda",
        ),
        (
            "& real[:, None, :]  # (B, n, n)",
            "& (real | True)[:, None, :]",
            "no lote, o preenchimento não conta: não",
        ),
        ("s = q @ k.transpose", "s = q.detach() @ k.detach().transpose", ""),
    ],
)
def test_a_leak_is_shown_by_experiment_and_by_derivatives(old, new, told):
    text = course_file()
    assert old in text
    result = leaks_nothing(loaded(text.replace(old, new)))
    assert any(told in row for row in result.told) and (result.passed or told), result
    assert result.passed == (told == "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chapter", "old", "new", "told"),
    [
        (2, "return torch.where(selecionadas, ids, ignorados)", "return ids.clone()", "por baixo do piso"),
        (2, "otimizador.step()", "pass", "do caminho até o piso"),
        (
            4,
            "return (log_z - certos).mean()",
            "return (log_z - certos).sum() / 2 / len(certos)",
            "por baixo do piso",
        ),
        (4, "i[None, :] <= i[:, None]", "i[None, :] <= i[:, None] + 1", "por baixo do piso"),
        (4, "otimizador.zero_grad()", "pass", "do caminho até o piso"),
        (5, "otimizador.step()", "pass", "em três sementes"),
    ],
)
def test_training_tells_a_defect_from_a_right_file(chapter, old, new, told):
    text = course_file()
    assert old in text
    result = line(text.replace(old, new), chapter)
    assert result.passed == (told == "") and any(told in row for row in result.told), result


def test_what_is_saved_of_the_students_model_is_the_same_in_transformers():
    text = course_file()
    assert apart_in_transformers(loaded(text)) < 1e-10
    assert apart_in_transformers(loaded(text.replace("return self.norm(x)  #", "return x  #"))) > 1e-3


def test_counting_words_is_what_it_says():
    ids, labels = torch.tensor([[1, 1, 2], [3, 3, 2]]), torch.tensor([0, 1])
    assert naive_bayes(ids, labels, torch.tensor([[1, 2, 2], [3, 2, 2], [3, 3, 1]])).tolist() == [0, 1, 1]


def test_without_a_file_there_is_nothing_to_put_to_the_test(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    linha_de_chegada(1)
    assert "nasce com a sua primeira peça aceita" in capsys.readouterr().out and not [*tmp_path.iterdir()]


def test_a_file_that_stops_is_told_with_its_line(tmp_path, capsys):
    file = tmp_path / "meu_bert.py"
    text = course_file().replace("i = torch.arange(n)\n", "i = torch.nada(n)\n", 1)
    file.write_text(text, encoding="utf-8")
    linha_de_chegada(1, str(file))
    number = text[: text.index("torch.nada")].count("\n") + 1
    assert f"(linha {number})" in (out := capsys.readouterr().out) and "AttributeError" in out
    file.write_text("def quebrado(:\n", encoding="utf-8")
    linha_de_chegada(1, str(file))
    assert "✘ meu_bert.py parou com SyntaxError: invalid syntax (linha 1)" in capsys.readouterr().out
    file.write_text(text.replace("def mascara_causal", "def outra").replace("torch.nada", "torch.arange"))
    linha_de_chegada(1, str(file))
    assert "não há mascara_causal" in capsys.readouterr().out
    file.write_bytes("# Não é UTF-8\n".encode("latin-1"))
    linha_de_chegada(1, str(file))
    assert "✘ meu_bert.py parou com UnicodeDecodeError" in capsys.readouterr().out
