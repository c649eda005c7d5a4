"""What joins the pieces in the student's file: given, not asked for."""

import math

from torch import nn

from lib.exercises.solutions.chapter_02 import (
    CabecaMLM,
    corromper,
    rotulos_mlm,
    selecionar_posicoes,
)
from lib.exercises.solutions.chapter_03 import Codificador
from lib.exercises.solutions.chapter_04 import entropia_cruzada


class MeuBert(nn.Module):
    """O codificador com a cabeça do MLM: logits (B, N, V)."""

    def __init__(self, V, d, h, d_ff, camadas, posicoes=512, segmentos=2, causal=False):
        super().__init__()
        self.encoder = Codificador(V, d, h, d_ff, camadas, posicoes, segmentos, causal)
        self.head = CabecaMLM(d, V)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.5 / math.sqrt(d))  # 0.02 nas 768 dimensões do BERT

    def forward(self, ids, segmentos, real):
        estados, _ = self.encoder(ids, segmentos, real)
        return self.head(estados[-1], self.encoder.embeddings.token.weight)


def perda_mlm(modelo, lote, especiais, mask_id, palavras, gerador, taxa=0.15):
    """Perda do MLM em um lote (ids, segmentos, real), corrompido na hora."""
    ids, segmentos, real = lote
    selecionadas = selecionar_posicoes(ids, especiais, taxa, gerador)
    corrompidos = corromper(ids, selecionadas, mask_id, palavras, gerador)
    logits = modelo(corrompidos, segmentos, real)  # (B, N, V)
    return entropia_cruzada(logits.flatten(0, 1), rotulos_mlm(ids, selecionadas).flatten())


def perda_causal(modelo, lote):
    """Perda da palavra seguinte em um lote (ids, segmentos, real)."""
    ids, segmentos, real = lote
    logits = modelo(ids, segmentos, real)[:, :-1]  # (B, N - 1, V)
    alvos = ids.masked_fill(~real, -100)[:, 1:]
    return entropia_cruzada(logits.flatten(0, 1), alvos.flatten())
