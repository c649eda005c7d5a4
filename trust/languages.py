"""What depends on a language in the reading of numbers: one row for each, and the rule that picks a row.

Another language is another row. `decimal` is the mark that its readers expect; a page may use the other.
"""

import re
from dataclasses import dataclass

# Written in every language's texts alike.
SHARED_REFERENCES = r"fig eq eqs sec ch § §§ n[oº°r]\. nº p\. pp\. vol version python doi arxiv isbn issn"


@dataclass(frozen=True)
class Language:
    """The words around numbers in one language; `|` and `?` as in regular expressions."""

    decimal: str
    common: str  # frequent words, by which a text is recognised
    scales: dict[str, int]  # words that multiply the number before them by a power of ten
    references: str  # nouns whose number is a name: "chapter 3", "figure 2"
    joins: str  # words between the numbers of one reference: "sections 2 and 3"
    ordinals: str  # what makes of a number an ordinal: "2nd"
    months: str
    years: str  # words before a year
    spaced: bool = False  # a common space may separate thousands: "10 000"


LANGUAGES = {
    "en": Language(
        decimal=".",
        common="the of and to is in that we this for with are as be it can you from not a or an",
        scales={"thousand": 3, "million": 6, "billion": 9, "trillion": 12},
        references="chapters? sections? equations? figures? tables? theorems? lemmas? corollary corollaries "
        "propositions? remarks? examples? exercises? pages? parts? steps? lectures? lessons? weeks? days? "
        "modules? units? questions? problems? labs? notebooks? tutorials? appendix algorithms? listings? "
        "volumes? footnotes? tasks? stages? phases? levels? assignments? homeworks? hw quiz act figs chap",
        joins="and or to through",
        ordinals="st nd rd th",
        months="January February March April May June July August September October November December "
        "Jan Feb Mar Apr Jun Jul Aug Sept? Oct Nov Dec",
        years="in since until before after circa during year years",
    ),
    "pt": Language(
        decimal=",",
        common="de que da em um uma para é com não os na por mais dos das são como ao pela",
        scales={"mil": 3, "milh(?:ão|ões)": 6, "bilh(?:ão|ões)": 9, "trilh(?:ão|ões)": 12},
        references="cap[íi]tulos? se[çc](?:ão|ões) equa(?:ção|ções) figuras? tabelas? teoremas? lemas? "
        "corol[áa]rios? proposi(?:ção|ções) observa(?:ção|ções) exemplos? exerc[íi]cios? p[áa]ginas? partes? "
        "passos? etapas? documentos? aulas? li(?:ção|ções) m[óo]dulos? semanas? quest(?:ão|ões) problemas? "
        "cap tab vers(?:ão|ões) ap[êe]ndices? notebooks? algoritmos? quadros?",
        joins="e ou a",
        ordinals="º ª",
        months="janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        years="desde ano anos",
    ),
    "es": Language(
        decimal=",",
        common="de la que el en y los del las un una por con para es lo como más su al",
        scales={"mil": 3, "millón": 6, "millones": 6, "mil millones": 9, "billón": 12, "billones": 12},
        references="cap[íi]tulos? secci(?:ón|ones) ecuaci(?:ón|ones) figuras? tablas? teoremas? lemas? "
        "corolarios? proposici(?:ón|ones) observaci(?:ón|ones) ejemplos? ejercicios? p[áa]ginas? partes? "
        "pasos? etapas? clases? lecci(?:ón|ones) m[óo]dulos? unidad(?:es)? semanas? preguntas? problemas? "
        "cap tab versi(?:ón|ones) ap[ée]ndices? notebooks? algoritmos? cuadernos? temas? actividad(?:es)?",
        joins="y e o a",
        ordinals="º ª er ro ra da do",
        months="enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        years="en desde año años",
        spaced=True,
    ),
    "fr": Language(
        decimal=",",
        common="de la le et les des un une du est que pour qui dans sur par pas au avec ce",
        scales={"mille": 3, "million": 6, "millions": 6, "milliard": 9, "milliards": 9, "billions?": 12},
        references="chapitres? sections? [ée]quations? figures? tableaux? tables? th[ée]or[èe]mes? lemmes? "
        "corollaires? propositions? remarques? exemples? exercices? pages? parties? [ée]tapes? cours "
        "le[çc]ons? modules? unit[ée]s? semaines? questions? probl[èe]mes? chap tab versions? annexes? "
        "algorithmes? TD TP s[ée]ances?",
        joins="et ou à",
        ordinals="er re e ère ème ième nd nde",
        months="janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        years="en depuis année années",
        spaced=True,
    ),
    "de": Language(
        decimal=",",
        common="der die und den von zu das mit sich des auf für ist im dem nicht ein eine als",
        scales={"Tausend": 3, "Million": 6, "Millionen": 6, "Milliarden?": 9, "Billionen?": 12},
        references="Kapiteln? Abschnitte?n? Gleichung(?:en)? Abbildung(?:en)? Tabellen? S[äa]tze?n? Lemmata "
        "Lemma Korollare? Beispiele?n? Aufgaben? Übung(?:en)? Seiten? Teile?n? Schritte?n? Vorlesung(?:en)? "
        "Module?n? Einheit(?:en)? Wochen? Fragen? Probleme?n? Kap Abb Tab Gl Version(?:en)? Anhang",
        joins="und oder bis",
        ordinals="te ten ter tes",
        months="Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        years="seit Jahr Jahre Jahren",
        spaced=True,
    ),
}


def recognise(text: str) -> str:
    """The language whose frequent words occur most; the first of the table where none does."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    common = {code: set(language.common.split()) for code, language in LANGUAGES.items()}
    return max(LANGUAGES, key=lambda code: sum(word in common[code] for word in words))
