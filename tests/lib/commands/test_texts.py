"""Texts of the user's: what is read is what was written."""

from lib.commands import texts
from lib.tokenizer import Tokenizer
from tests.lib.commands.conftest import TEXT


def test_special_tokens_in_a_text_are_not_read_as_such():
    tokenizer = Tokenizer.train([TEXT], 120)
    ids = texts.tokenized(["O gato [PAD] viu [SEP] a [MASK] casa."], tokenizer)[0]
    assert ids == texts.tokenized(["O gato viu a casa."], tokenizer)[0]


def test_a_text_with_a_byte_order_mark_and_windows_lines_is_read(tmp_path):
    path = tmp_path / "windows.txt"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    read = texts.read_texts([path])
    assert not read.startswith("\ufeff")
    assert texts.paragraphs_of(read) == texts.paragraphs_of(TEXT)


def test_paragraphs_keep_every_word_in_order():
    for text in (TEXT, "palavra " * 500, "uma linha\noutra linha\n" * 80):
        words = [w for d in texts.paragraphs_of(text) for s in d for w in s.split()]
        assert words == text.split()


def test_the_split_is_fixed_and_disjoint():
    documents = texts.paragraphs_of(TEXT)
    training, out = texts.split(documents)
    assert texts.split(documents) == (training, out)
    assert len(out) == 3 and sorted(training + out) == sorted(documents)


def test_a_folder_gives_every_text_however_its_system_writes_names_and_lines(tmp_path):
    (tmp_path / "A.TXT").write_bytes(b"um\r\n\r\ndois\r\n")
    (tmp_path / "b.txt").write_bytes(b"tr\xc3\xaas\r\rquatro")
    (tmp_path / "c.csv").write_bytes(b"cinco")
    assert texts.read_texts([tmp_path], least=1) == "um\n\ndois\n\n\ntrês\n\nquatro"
