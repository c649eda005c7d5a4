"""Solutions of chapter 1: masks and softmax."""

import math

import torch


def minha_mascara(n):
    """Máscara causal booleana (n, n): True onde a posição i (linha) pode olhar
    para j (coluna)."""
    i = torch.arange(n)
    return i[None, :] <= i[:, None]


def minha_softmax(s):
    """Softmax de s (..., n) ao longo do último eixo, sem estourar para
    pontuações de qualquer tamanho."""
    maior = s.max(dim=-1, keepdim=True).values
    e = torch.exp(s - maior)
    return e / e.sum(dim=-1, keepdim=True)


def mascara_do_lote(comprimentos, n):
    """Máscara booleana (B, n, n): causal, e sem as colunas além do comprimento
    de cada frase."""
    i = torch.arange(n)
    causal = i[None, :] <= i[:, None]  # (n, n)
    real = i[None, :] < comprimentos[:, None]  # (B, n)
    return causal & real[:, None, :]  # (B, n, n)


def pesos_mascarados(q, k, mascara):
    """Pesos de atenção (..., n, n) de q e k (..., n, d_k); a máscara é True
    onde é permitido olhar."""
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    s = s.masked_fill(~mascara, -math.inf)
    return torch.softmax(s, dim=-1)
