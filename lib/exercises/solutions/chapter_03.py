"""Solutions of chapter 3: subwords, and the encoder from its embeddings to its last block."""

import math

import torch
from torch import nn

from lib.exercises.solutions.chapter_01 import atencao, mascara_do_lote


class Embeddings(nn.Module):
    """Token, posição e segmento, somados e normalizados: de ids e segmentos
    (B, N) a vetores (B, N, d)."""

    def __init__(self, V, posicoes, segmentos, d):
        super().__init__()
        self.token = nn.Embedding(V, d)
        self.position = nn.Embedding(posicoes, d)
        self.segment = nn.Embedding(segmentos, d)
        self.norm = nn.LayerNorm(d, eps=1e-12)

    def forward(self, ids, segmentos):
        lugar = torch.arange(ids.shape[1])  # (N,)
        x = self.token(ids) + self.position(lugar) + self.segment(segmentos)
        return self.norm(x)  # (B, N, d)


def wordpiece(palavra, vocabulario):
    """Lista de pedaços da palavra, o mais longo primeiro; ["[UNK]"] se algum
    trecho não couber."""
    pedacos, inicio = [], 0
    while inicio < len(palavra):
        for fim in range(len(palavra), inicio, -1):
            pedaco = ("##" if inicio > 0 else "") + palavra[inicio:fim]
            if pedaco in vocabulario:
                break
        else:
            return ["[UNK]"]
        pedacos.append(pedaco)
        inicio = fim
    return pedacos


def separar_cabecas(x, h):
    """De (B, N, d) para (B, h, N, d / h): a cabeça c fica com a fatia c de
    cada vetor."""
    B, N, d = x.shape
    x = x.reshape(B, N, h, d // h)
    return x.transpose(1, 2)


class Cabecas(nn.Module):
    """h atenções lado a lado sobre x (B, N, d), misturadas por W_O: a saída
    (B, N, d) e os pesos (B, h, N, N)."""

    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.W_Q, self.W_K = nn.Linear(d, d), nn.Linear(d, d)
        self.W_V, self.W_O = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, mascara):
        q, k, v = (separar_cabecas(W(x), self.h) for W in (self.W_Q, self.W_K, self.W_V))
        saida, pesos = atencao(q, k, v, mascara)  # (B, h, N, d_k) e (B, h, N, N)
        juntas = saida.transpose(1, 2).flatten(2)  # (B, N, d)
        return self.W_O(juntas), pesos


class Bloco(nn.Module):
    """Atenção e feed-forward, cada um somado ao que entrou e normalizado: x
    (B, N, d) e os pesos da atenção (B, h, N, N)."""

    def __init__(self, d, h, d_ff):
        super().__init__()
        self.attention = Cabecas(d, h)
        self.norm_1 = nn.LayerNorm(d, eps=1e-12)
        self.W_1, self.W_2 = nn.Linear(d, d_ff), nn.Linear(d_ff, d)
        self.norm_2 = nn.LayerNorm(d, eps=1e-12)

    def forward(self, x, mascara):
        atendido, pesos = self.attention(x, mascara)
        x = self.norm_1(x + atendido)
        interno = nn.functional.gelu(self.W_1(x))  # (B, N, d_ff)
        return self.norm_2(x + self.W_2(interno)), pesos


class Codificador(nn.Module):
    """Embeddings e uma pilha de blocos. Devolve o que entra e o que sai de
    cada bloco, L + 1 vezes (B, N, d), e os pesos, L vezes (B, h, N, N)."""

    def __init__(self, V, d, h, d_ff, camadas, posicoes=512, segmentos=2, causal=False):
        super().__init__()
        self.causal = causal
        self.embeddings = Embeddings(V, posicoes, segmentos, d)
        self.blocks = nn.ModuleList(Bloco(d, h, d_ff) for _ in range(camadas))

    def forward(self, ids, segmentos, real):
        n = ids.shape[1]
        mascara = mascara_do_lote(real.sum(1), n) if self.causal else real[:, None, :]
        estados, mapas = [self.embeddings(ids, segmentos)], []
        for bloco in self.blocks:
            x, pesos = bloco(estados[-1], mascara[:, None])  # (B, 1, N ou 1, N)
            estados.append(x)
            mapas.append(pesos)
        return estados, mapas


def atencao_em_lote(q, k, v, real):
    """Saída (B * h, N, d_k) da atenção de q, k, v (B * h, N, d_k), com as h
    cabeças de cada frase seguidas; real (B, N) é True nos tokens reais."""
    h = len(q) // len(real)
    mascara = real.repeat_interleave(h, dim=0)[:, None, :]  # (B * h, 1, N)
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B * h, N, N)
    s = s.masked_fill(~mascara, -math.inf)
    return torch.softmax(s, dim=-1) @ v


def usa_a_ordem(modelo, x):
    """True se a saída de modelo(x) em alguma posição depende da ordem das
    outras linhas de x (N, d)."""
    saida = modelo(x)
    for i in range(len(x)):
        outras = [j for j in range(len(x)) if j != i]
        outras = outras[1:] + outras[:1]  # nenhuma fica onde estava
        ordem = [*outras[:i], i, *outras[i:]]
        if not torch.allclose(modelo(x[ordem])[i], saida[i], atol=1e-5):
            return True
    return False
