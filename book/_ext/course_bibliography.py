"""References in Portuguese: "Kudo e Richardson, 2018", "Em", "p.", and titles as their authors wrote them."""

from dataclasses import dataclass, field

from pybtex.plugin import register_plugin as register_with_pybtex
from pybtex.style.formatting.unsrt import Style as UnsrtStyle
from pybtex.style.formatting.unsrt import dashify, toplevel
from pybtex.style.template import field as value
from pybtex.style.template import first_of, href, join, node, optional, optional_field, sentence, tag
from sphinx.application import Sphinx
from sphinxcontrib.bibtex.plugin import register_plugin as register_with_sphinx
from sphinxcontrib.bibtex.style.referencing import PersonStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

STYLE = "course"
LISTED_AUTHORS = 12


@node
def authors(children, context):
    """Every author, or the first of a very long list followed by "et al."."""
    people = context["entry"].persons["author"]
    named = [person for person in people if str(person) != "others"][:LISTED_AUTHORS]
    formatted = [context["style"].format_name(person, abbr=False) for person in named]
    if len(named) < len(people):
        return join[join(sep=", ")[formatted], " et al."].format_data(context)
    return join(sep=", ", sep2=" e ", last_sep=" e ")[formatted].format_data(context)


def labelled(label: str, name: str):
    return optional[join[label, value(name, apply_func=dashify)]]


def linked(label: str, name: str, address: str):
    """The identifier of a work, as a link to it."""
    identifier = value(name, raw=True)
    return optional[href[join[address, identifier], join[label, identifier]]]


class Bibliography(UnsrtStyle):
    """One shape for every kind of work: who, what, where, when, and where to find it."""

    default_sorting_style = "author_year_title"
    default_label_style = "alpha"

    def template(self, entry):
        return toplevel[
            sentence[authors()],
            sentence[value("title")],
            sentence(sep=", ")[
                optional[join["Em ", tag("em")[value("booktitle")]]],
                optional[tag("em")[value("journal")]],
                optional_field("institution"),
                optional_field("series"),
                labelled("vol. ", "volume"),
                labelled("n. ", "number"),
                labelled("p. ", "pages"),
                optional_field("publisher"),
                optional_field("note"),
                value("year"),
            ],
            first_of[
                linked("doi:", "doi", "https://doi.org/"),
                linked("arXiv:", "eprint", "https://arxiv.org/abs/"),
                linked("", "url", ""),
                "",
            ],
        ]

    get_article_template = get_inproceedings_template = get_incollection_template = template
    get_misc_template = get_techreport_template = get_unpublished_template = template


@dataclass
class Citation(AuthorYearReferenceStyle):
    """Author and year in the sentence, with a Portuguese conjunction."""

    person: PersonStyle = field(default_factory=lambda: PersonStyle(sep2=" e ", last_sep=" e "))


def setup(app: Sphinx) -> None:
    register_with_pybtex("pybtex.style.formatting", STYLE, Bibliography)
    register_with_sphinx("sphinxcontrib.bibtex.style.referencing", STYLE, Citation)
