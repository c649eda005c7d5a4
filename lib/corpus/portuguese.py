"""The grammar of the corpus: agreement, articles, contractions and frames over the words of `lexicon`.

A sentence is  [time] subject predicate [place] [time] [manner].  Symbols carry the features that must agree:
`N fruta f s` is the class of feminine singular nouns of the category `fruta`. Brackets give the labels: PER,
LOC and ORG are entities; sujeito, verbo, cópula, objeto, lugar, tempo and modo are what tasks are built from.
"""

from collections import defaultdict
from collections.abc import Iterable

from lib.corpus import lexicon
from lib.corpus.grammar import Grammar
from lib.corpus.lexicon import CATEGORIES, TEAMS, TOPICS, Category, Frame, Quality, Topic

Symbols = tuple[str, ...]
ARTICLE = {("m", "s"): "o", ("f", "s"): "a", ("m", "p"): "os", ("f", "p"): "as"}
CONTRACTED = {
    "de": {"o": "do", "a": "da", "os": "dos", "as": "das"},
    "em": {"o": "no", "a": "na", "os": "nos", "as": "nas"},
    "a": {"o": "ao", "a": "à", "os": "aos", "as": "às"},
}
DETERMINERS = {
    ("m", "s"): ((0.6, "o"), (0.28, "um"), (0.12, "esse")),
    ("f", "s"): ((0.6, "a"), (0.28, "uma"), (0.12, "essa")),
    ("m", "p"): ((0.6, "os"), (0.2, "dois"), (0.2, "alguns")),
    ("f", "p"): ((0.6, "as"), (0.2, "duas"), (0.2, "algumas")),
}
QUESTION_WORDS = ("quem", "que", "onde", "quando")


class _Builder:
    """Collects rules and attributes of lexical classes while frames are unfolded into agreement features."""

    def __init__(self):
        self.rules: dict[str, list[tuple[float, Symbols]]] = {}
        self.attributes: dict[str, dict[str, str]] = {}

    def add(self, name: str, alternatives: Iterable[tuple[float, Symbols]], **attributes: str) -> str:
        """A nonterminal, made once: the same name always means the same alternatives."""
        if name not in self.rules:
            self.rules[name] = list(alternatives)
            if told := {key: value for key, value in attributes.items() if value}:
                self.attributes[name] = told
        return name

    def words(self, name: str, words: Iterable[str], **attributes: str) -> str:
        """Words, or phrases, of which earlier ones are likelier: weight 1 / rank^(1/4)."""
        ranked = [(rank**-0.25, tuple(word.split())) for rank, word in enumerate(words, 1)]
        return self.add(name, ranked, **attributes)

    # -- noun phrases

    def noun(self, name: str, gender: str, number: str) -> str:
        forms = [form for g, form in _nouns(CATEGORIES[name], number) if g == gender]
        return self.words(f"N {name} {gender} {number}", forms, sense=name)

    def noun_bar(self, name: str, gender: str, number: str) -> str:
        """Noun, alone or with an adjective: `manga madura`."""
        noun = self.noun(name, gender, number)
        adjective = self.adjective(CATEGORIES[name].adjectives, gender, number)
        return self.add(f"NBAR {name} {gender} {number}", [(2, (noun,)), (1, (noun, adjective))])

    def adjective(self, adjectives: str, gender: str, number: str, polarity: str = "") -> str:
        forms = [_adjective(entry, gender, number) for entry in adjectives.split()]
        return self.words(f"ADJ {adjectives} {polarity} {gender} {number}", forms, polarity=polarity)

    def noun_phrase(self, name: str, definite: bool) -> str:
        """Object: with any determiner, or with the definite article."""
        alternatives = []
        for weight, gender, number in _agreements(CATEGORIES[name]):
            determiner = ARTICLE[gender, number]
            if not definite:
                choices = [(w, (d,)) for w, d in DETERMINERS[gender, number]]
                determiner = self.add(f"DET {gender} {number}", choices)
            alternatives.append((weight, (determiner, self.noun_bar(name, gender, number))))
        return self.add(f"{'THE' if definite else 'NP'} {name}", alternatives)

    def prepositional(self, preposition: str, name: str) -> str:
        contracted = CONTRACTED[preposition]
        alternatives = [
            (weight, (contracted[ARTICLE[gender, number]], self.noun(name, gender, number)))
            for weight, gender, number in _agreements(CATEGORIES[name])
        ]
        return self.add(f"PP {preposition} {name}", alternatives)

    def complement(self, text: str) -> Symbols:
        """Symbols of a frame's complement, as `lexicon` writes it; noun phrases are labelled `objeto`."""
        if text[0] in "@!":
            return "(objeto", self.noun_phrase(text[1:], definite=text[0] == "!"), ")"
        return (self.prepositional(*text.split(":")),)

    # -- predicates

    def verb(self, verbs: str, number: str, polarity: str = "") -> str:
        forms = [_verb(entry, number) for entry in verbs.split()]
        return self.words(f"VERB {verbs} {polarity} {number}", forms, polarity=polarity)

    def frame(self, frame: Frame, number: str, tail: str) -> list[tuple[float, Symbols]]:
        rest = (*self.complement(frame.complement), f"{tail} manner" if frame.manner else tail)
        if frame.polarity == "gostar":
            yes, no = (self.verb(frame.verbs, number, p) for p in ("positivo", "negativo"))
            liked, disliked = ("(verbo", yes, ")", *rest), ("não", "(verbo", no, ")", *rest)
            return [(frame.weight / 2, liked), (frame.weight / 2, disliked)]
        affirmed = ("(verbo", self.verb(frame.verbs, number, frame.polarity), ")", *rest)
        if not frame.negation:
            return [(frame.weight, affirmed)]
        return [(0.93 * frame.weight, affirmed), (0.07 * frame.weight, ("não", *affirmed))]

    def quality(self, quality: Quality, gender: str, number: str, tail: str) -> list[tuple[float, Symbols]]:
        copula = self.words(f"COPULA {quality.verb} {number}", [_verb(quality.verb, number)])
        degree = self.words("DEGREE", lexicon.DEGREES)
        adjective = self.adjective(quality.adjectives, gender, number, quality.polarity)
        return [(quality.weight, ("(cópula", copula, ")", degree, adjective, f"{tail} day"))]

    # -- sentences

    def tails(self, topic: Topic, name: str) -> None:
        """Ends of a sentence: `free`; `front`, when the time came first; `must`, after a short subject."""
        cities = lexicon.CITIES + lexicon.INLAND_CITIES if topic.inland else lexicon.CITIES
        cities = [(1, (in_, "(LOC", *city, ")")) for in_, *city in map(str.split, cities)]
        city = self.add("CITY" if topic.inland else "COAST", cities)
        where = self.add(f"WHERE {name}", [(0.7, (self.prepositional("em", topic.places),)), (0.3, (city,))])
        place = ("(lugar", where, ")")
        time = ("(tempo", self.words("TIME", lexicon.TIMES), ")")
        day = ("(tempo", self.words("DAY", lexicon.DAYS), ")")
        manner = ("(modo", self.words("MANNER", lexicon.MANNERS), ")")
        must = [(0.5, place), (0.3, time), (0.2, (*place, *time))]
        free = [(0.28, ()), *((0.72 * w, body) for w, body in must)]
        for kind, alternatives in {"free": free, "front": [(0.6, ()), (0.4, place)], "must": must}.items():
            tail = f"TAIL {name} {kind}"
            self.add(tail, alternatives)
            self.add(f"{tail} manner", [(0.8, (tail,)), (0.2, manner)])
            when = {"free": [(0.5, ()), (0.5, day)], "front": [(1, ())], "must": [(1, day)]}[kind]
            self.add(f"{tail} day", when)

    def subjects(self, topic: Topic, role: str):
        """(weight, symbols, gender, number, is it one word) of each kind of subject that fills a role."""
        agents = role == "agente"
        # Not "a manga boa estava muito boa": a thing that will get a quality has no adjective before it.
        noun_of = self.noun_bar if agents else self.noun
        for share, name in [(0.5, topic.agents), (0.25, "pessoa")] if agents else [(1.0, role)]:
            for weight, gender, number in _agreements(CATEGORIES[name]):
                pointing = {"m": "esse", "f": "essa"}[gender] + ("s" if number == "p" else "")
                choices = [(0.88, (ARTICLE[gender, number],)), (0.12, (pointing,))]
                determiner = self.add(f"SDET {gender} {number}", choices)
                yield share * weight, (determiner, noun_of(name, gender, number)), gender, number, False
        if agents:
            woman = self.words("WOMAN", lexicon.WOMEN.split())
            man = self.words("MAN", lexicon.MEN.split())
            yield 0.09, ("(PER", woman, ")"), "f", "s", True
            yield 0.09, ("(PER", man, ")"), "m", "s", True
            yield 0.07, ("(PER", woman, ")", "e", "(PER", man, ")"), "m", "p", False

    def topic(self, name: str, topic: Topic) -> None:
        self.tails(topic, name)
        roles: dict[str, list[Frame | Quality]] = defaultdict(list)
        for frame in topic.frames:
            roles[frame.subject].append(frame)
        time = ("(tempo", self.words("SHORT TIME", lexicon.SHORT_TIMES), ")")
        for kind, front in (("free", ()), ("front", time)):
            alternatives = []
            for role, frames in roles.items():
                total = sum(frame.weight for frame in frames)
                for weight, subject, gender, number, short in self.subjects(topic, role):
                    tail = f"TAIL {name} {'must' if short and kind == 'free' else kind}"
                    predicate = self.predicate(f"{name} {role}", frames, gender, number, tail)
                    alternatives.append((total * weight, (*front, "(sujeito", *subject, ")", predicate)))
            if name == "futebol":
                matches = (self.match(team, name, kind) for team in TEAMS)
                alternatives.extend((2.0 / len(TEAMS), (*front, *match)) for match in matches)
            self.add(f"{name} {kind}", alternatives)
        self.add(f"S {name}", [(0.85, (f"{name} free",)), (0.15, (f"{name} front",))])

    def predicate(self, name: str, frames, gender: str, number: str, tail: str) -> str:
        alternatives = []
        for frame in frames:
            if isinstance(frame, Frame):
                alternatives.extend(self.frame(frame, number, tail))
            else:
                alternatives.extend(self.quality(frame, gender, number, tail))
        return self.add(f"PRED {name} {gender} {number} {tail}", alternatives)

    def match(self, team: str, name: str, kind: str) -> Symbols:
        """`o Santos venceu o Bahia`: a team never plays against itself."""
        rival = self.add(f"RIVAL {team}", [(1, ("(ORG", *t.split(), ")")) for t in TEAMS if t != team])
        verb = self.verb("venceu derrotou enfrentou", "s")
        subject = ("(sujeito", "o", "(ORG", *team.split(), ")", ")")
        return (*subject, "(verbo", verb, ")", "(objeto", "o", rival, ")", f"TAIL {name} {kind}")


def _nouns(category: Category, number: str) -> list[tuple[str, str]]:
    """(gender, form) of each noun of a category in one number."""
    forms = []
    for entry in category.nouns.split():
        spelled, _, gender = entry.partition(":")
        singular, _, plural = spelled.partition("/")
        gender = gender or {"a": "f", "o": "m"}[singular[-1]]
        forms.append((gender, singular if number == "s" else plural or singular + "s"))
    return forms


def _agreements(category: Category) -> list[tuple[float, str, str]]:
    """(probability, gender, number): genders as the nouns have them, the plural as the category says."""
    genders = [gender for gender, _ in _nouns(category, "s")]
    numbers = [("s", 1 - category.plural), ("p", category.plural)]
    shares = [(gender, genders.count(gender) / len(genders)) for gender in "mf"]
    return [(share * p, gender, number) for gender, share in shares for number, p in numbers if share * p > 0]


def _adjective(entry: str, gender: str, number: str) -> str:
    forms = entry.split("/")
    if len(forms) == 1:
        stem = entry[:-1]
        forms = [entry, stem + "a", entry + "s", stem + "as"] if entry.endswith("o") else [entry, entry + "s"]
    if len(forms) == 2:
        return forms[number == "p"]
    return forms[2 * (number == "p") + (gender == "f")]


def _verb(entry: str, number: str) -> str:
    singular, _, plural = entry.partition("/")
    if number == "s":
        return singular
    return plural or singular[:-2] + {"ou": "aram", "eu": "eram", "iu": "iram"}[singular[-2:]]


def build() -> Grammar:
    """Compile the grammar; every topic is equally likely."""
    builder = _Builder()
    for name, topic in TOPICS.items():
        builder.topic(name, topic)
    symbols = {name: f"S {name}" for name in TOPICS}
    builder.add("S", [(1, (symbol,)) for symbol in symbols.values()])
    return Grammar(builder.rules, topics=symbols, attributes=builder.attributes, extra_words=QUESTION_WORDS)


PORTUGUESE = build()
