"""Portuguese texts without an author, for the tests of the project: sentences of the course's grammar."""

from pathlib import Path

from lib.corpus import PORTUGUESE, sample


def sentences(count: int, seed: int) -> list[str]:
    return [f"{str(sentence).capitalize()}." for sentence in sample(PORTUGUESE, count, seed=seed)]


def write_folder(folder: Path, files: int = 2, paragraphs: int = 15) -> Path:
    """Files of paragraphs of four sentences, all of them different texts."""
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(files):
        said = sentences(4 * paragraphs, seed=i)
        text = "\n\n".join(" ".join(said[k : k + 4]) for k in range(0, len(said), 4))
        (folder / f"texto_{i:02}.txt").write_text(text, encoding="utf-8")
    return folder
