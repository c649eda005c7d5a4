"""Solutions of chapter 1: masks, softmax, attention, and how to find out that a model sees the future."""

import math

import torch


def mascara_causal(n):
    """Máscara causal booleana (n, n): True onde a posição i (linha) pode olhar
    para j (coluna)."""
    i = torch.arange(n)
    return i[None, :] <= i[:, None]


def softmax_estavel(s):
    """Softmax de s (..., n) ao longo do último eixo, sem estourar para
    pontuações de qualquer tamanho."""
    maior = s.max(dim=-1, keepdim=True).values
    e = torch.exp(s - maior)
    return e / e.sum(dim=-1, keepdim=True)


def mascara_do_lote(comprimentos, n):
    """Máscara booleana (B, n, n): causal, e sem as colunas além do comprimento
    de cada frase."""
    real = torch.arange(n)[None, :] < comprimentos[:, None]  # (B, n)
    return mascara_causal(n) & real[:, None, :]  # (B, n, n)


def atencao(q, k, v, mascara):
    """Saída (..., N, d_v) e pesos (..., N, N) da atenção de q, k (..., N, d_k)
    e v (..., N, d_v); a máscara é True onde é permitido olhar."""
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (..., N, N)
    a = softmax_estavel(s.masked_fill(~mascara, -math.inf))  # (..., N, N)
    return a @ v, a


def pesos_do_lote(s, comprimentos):
    """Pesos de atenção (B, N, N) das pontuações s (B, N, N) de um lote de
    frases com estes comprimentos, sem máscara causal."""
    real = torch.arange(s.shape[-1]) < comprimentos[:, None]  # (B, N)
    s = s.masked_fill(~real[:, None, :], -math.inf)
    return torch.softmax(s, dim=-1)


def espia(modelo, x):
    """True se alguma saída de modelo(x), (N, d), depende de uma linha de x
    (N, d) que vem depois da sua."""
    saida = modelo(x)
    for j in range(1, len(x)):
        outro = x.clone()
        outro[j] += 1 + torch.rand(x.shape[1])
        if not torch.allclose(modelo(outro)[:j], saida[:j]):
            return True
    return False
