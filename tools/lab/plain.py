"""A page's parts as Markdown that JupyterLab shows by itself, with the labels and numbers of the book."""

import re

from tools.lab import citations
from tools.lab.myst import Code, Directive, Formula, Heading, Line, Part, Target
from tools.lab.numbers import KINDS, Numbers, Place

_ROLE = re.compile(r"\{(?P<role>[\w:]+)\}`(?:(?P<text>[^`<]+?) *<(?P<aim>[^`>]+)>|(?P<target>[^`]+))`")
_TERM = re.compile(r"(?m)^(\S.*)\n +(.+)$")
TITLES = {"seealso": "Ver também", "tip": "Dica"}
COLOURS = {"warning": "#b35900", "important": "#7a3e9d", "tip": "#1a7f4b", "note": "#2f6fb5"}
STATEMENT = "#4a5568"
BOX = '<div style="border-left: 4px solid {colour}; padding: 0 1em; margin: 1em 0">\n\n{inner}\n\n</div>'
FOLDED = "<details>\n<summary>{title}</summary>\n\n{inner}\n\n</details>"
NUMBER = '<span class="section-number">{}. </span>'  # a quiz knows by it what is title
PROOF = "**Demonstração.**"


class Plain:
    """Writes parts of a page in plain Markdown."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers

    def text(self, parts: list[Part]) -> str:
        written = (self._part(part) for part in parts)
        return "\n".join(text for text in written if text is not None)

    def _part(self, part: Part) -> str | None:
        match part:
            case Code():
                return part.text
            case Formula():
                tag = f"\n\\tag{{{part.number}}}" if part.number else ""
                return f"$$\n{part.tex}{tag}\n$$"
            case Heading():
                number = NUMBER.format(part.number) if part.number else ""
                return f"{'#' * part.level} {number}{self.inline(part.text)}"
            case Target():
                return None
            case Line():
                return self.inline(part.text)
            case Directive():
                return self._directive(part)

    # --- boxes

    def _directive(self, part: Directive) -> str:
        if part.name == "mermaid":
            return f"```mermaid\n{part.body}\n```"
        if part.name == "glossary":
            return self._terms(part.body)
        if part.name == "bibliography":
            works = citations.references().items()
            return "\n\n".join(f'<a id="{key}"></a>{text}' for key, text in works)
        inner = self.text(part.parts).strip("\n")
        if part.name == "prf:proof":
            return _box(STATEMENT, _opened(PROOF, inner))
        if part.name in KINDS:
            title = f"**{KINDS[part.name]} {part.number}** ({self.inline(part.argument)})"
            return _marked(part, _box(STATEMENT, f"{title}\n\n{inner}"))
        if part.name == "solution":
            place = self._place(part.argument)
            title = _html(f"Solução para {place.text} ({place.title})")
            return _marked(part, FOLDED.format(title=title, inner=inner))
        return self._admonition(part, inner)

    def _admonition(self, part: Directive, inner: str) -> str:
        title = self.inline(part.argument or TITLES.get(part.name, ""))
        if not title or part.name not in ("admonition", "dropdown", *TITLES):
            raise ValueError(f"there is no plain form of the directive {part.name}")
        classes = part.options.get("class", part.name).split()
        if "dropdown" in classes:
            return FOLDED.format(title=_html(title), inner=inner)
        colour = next((COLOURS[name] for name in classes if name in COLOURS), COLOURS["note"])
        return _box(colour, f"**{title}**\n\n{inner}")

    def _terms(self, body: str) -> str:
        found = _TERM.findall(body)
        return "\n\n".join(
            f'<a id="{_term(name)}"></a>**{name}** {self.inline(text)}' for name, text in found
        )

    # --- what stands in a line

    def inline(self, text: str) -> str:
        return _ROLE.sub(self._role, text)

    def _role(self, found: re.Match) -> str:
        role, own = found["role"], found["text"]
        target = found["aim"] or found["target"]
        if role in ("cite", "cite:t"):
            return _cited(role, target)
        if role == "doc":
            page = self.numbers.pages[target]
            return _link(own or page.title, page.file)
        if role == "term":
            return _link(own or target, f"{self.numbers.pages['glossary'].file}#{_term(target)}")
        if role in ("ref", "eq", "prf:ref"):
            place = self._place(target)
            return _link(own or place.text, place.address)
        raise ValueError(f"there is no plain form of the role {role}")

    def _place(self, label: str) -> Place:
        if label not in self.numbers.places:
            raise ValueError(f"no page of the folder has the label {label}")
        return self.numbers.places[label]


def _link(text: str, address: str) -> str:
    return f"[{text}]({address})"


def _cited(role: str, keys: str) -> str:
    """As the book cites, in the order of its references: [Kudo, 2018], or Kudo [2018] in a sentence."""

    def address(key: str) -> str:
        return f"referencias.md#{key}"

    names = sorted((key.strip() for key in keys.split(",")), key=[*citations.references()].index)
    if role == "cite":
        links = (_link(f"{citations.authors(key)}, {citations.year(key)}", address(key)) for key in names)
        return f"[{', '.join(links)}]"
    return ", ".join(
        f"{citations.authors(key)} [{_link(citations.year(key), address(key))}]" for key in names
    )


def _term(name: str) -> str:
    return "termo-" + re.sub(r"\W+", "-", name.lower())


def _box(colour: str, inner: str) -> str:
    return BOX.format(colour=colour, inner=inner)


def _marked(part: Directive, text: str) -> str:
    """With the label, where nobody sees it: the grader knows a cell by it, should its id be lost."""
    return f"<!-- :label: {part.options['label']} -->\n{text}"


def _opened(title: str, inner: str) -> str:
    """The title as the first words of a text that begins with a sentence, else on a line of its own."""
    return f"{title} {inner}" if re.match(r"[^\W\d]|\*\w|\$[^$]", inner) else f"{title}\n\n{inner}"


def _html(text: str) -> str:
    """A title's code and emphasis where Markdown is not read."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)
