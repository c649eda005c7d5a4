"""The page that a student's folder opens at: where everything is, and what happens to what she writes."""

from tools.lab.notebooks import Book
from tools.lab.numbers import Page

START = "comece_aqui.md"
TEXT = """\
# Do mascaramento ao BERT

Esta pasta é sua. Os cadernos são os do livro, com os mesmos números: mude um valor, execute a célula
(<kbd>Shift</kbd> <kbd>Enter</kbd>), veja o que acontece. A [primeira página](intro.ipynb)
diz para quem é o curso e quanto tempo ele leva; os capítulos começam pelo [aquecimento](00_before.ipynb).
{news}
{contents}

## O que acontece com o que você escreve

- **Fica guardado aqui**, de uma vez para outra. Nada do que você mudou é apagado ou trocado.
- As respostas aceitas dos exercícios vão para `meu_bert.py`, ao lado dos cadernos: é o seu BERT.
- **Quando o livro muda**, o caderno em que você não mexeu é atualizado. O que é seu fica como está, e a
  versão nova aparece ao lado, com o nome terminado em `-versao-nova`.
- **Para recomeçar um caderno**, mude o nome dele (ou apague-o) e abra o curso de novo.
"""
NEWS = """
## Há versões novas

O livro mudou depois que você mexeu nestes cadernos. Os seus estão como você os deixou; as versões novas são:

{listed}
"""


def start_page(book: Book, offers: list[str]) -> str:
    """The page, with the newer versions that lie beside what is hers."""
    listed = "\n".join(f"- [{name}]({name})" for name in offers)
    contents = "\n\n".join(
        f"## {group.caption}\n\n" + "\n".join(map(_entry, group.pages)) for group in book.groups
    )
    return TEXT.format(news=NEWS.format(listed=listed) if offers else "", contents=contents)


def _entry(page: Page) -> str:
    number = ".".join(map(str, page.number))
    title = f"{number}. {page.title}" if number else page.title
    return f"{'  ' * (len(page.number) > 1)}- [{title}]({page.file})"
