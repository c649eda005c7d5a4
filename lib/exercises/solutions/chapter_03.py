"""Solutions of chapter 3: subwords, embeddings, heads and parameters."""


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


def somar_embeddings(ids, segmentos, E, P, S):
    """Entrada do codificador (B, N, d): token mais posição mais segmento, de
    tabelas (..., d)."""
    posicoes = P[: ids.shape[1]]  # (N, d)
    tokens = E[ids]  # (B, N, d)
    return tokens + posicoes + S[segmentos]


def separar_cabecas(x, h):
    """De (B, N, d) para (B, h, N, d / h): a cabeça c fica com a fatia c de
    cada vetor."""
    B, N, d = x.shape
    x = x.reshape(B, N, h, d // h)
    return x.transpose(1, 2)


def media_dos_reais(H, real):
    """Vetor da frase (B, d): média das saídas H (B, N, d) onde real (B, N) é
    True."""
    peso = real.unsqueeze(-1).to(H.dtype)  # (B, N, 1)
    soma = (H * peso).sum(dim=1)  # (B, d)
    return soma / peso.sum(dim=1)


def contar_parametros(V, posicoes, segmentos, d, d_ff, camadas):
    """Parâmetros de um codificador BERT, sem o pooler: tabelas, atenção, feed-
    forward e normas."""
    tabelas = (V + posicoes + segmentos) * d + 2 * d  # e a norma das entradas
    atencao = 4 * (d * d + d)  # consulta, chave, valor e saída, com viés
    feed_forward = (d * d_ff + d_ff) + (d_ff * d + d)
    normas = 2 * (2 * d)  # um ganho e um viés por número, duas vezes
    return tabelas + camadas * (atencao + feed_forward + normas)
