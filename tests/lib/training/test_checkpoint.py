"""Checkpoints: whole or not at all, and never believed unseen."""

import hashlib
import os
import pickle
import shutil

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lib.files import write_atomically
from lib.training.checkpoint import CheckpointError, Checkpoints, fingerprint
from tests.randomness import normal

RUN = fingerprint({"seed": 0})


def state(step: int) -> dict[str, torch.Tensor]:
    return {"step": torch.tensor(step), "model.W": normal(step, 5, 7)}


def filled(folder, *steps: int) -> Checkpoints:
    checkpoints = Checkpoints(folder, RUN)
    for step in steps:
        checkpoints.save(state(step), step)
    return checkpoints


def newest(checkpoints: Checkpoints) -> tuple[int | None, list[str]]:
    """The step of the checkpoint that is used, and the names of those refused."""
    refused: list[str] = []
    tensors = checkpoints.newest(lambda error: refused.append(str(error)))
    return (None if tensors is None else int(tensors["step"])), refused


def test_what_is_saved_comes_back_to_the_last_bit(tmp_path):
    torch.testing.assert_close(filled(tmp_path, 3).newest(pytest.fail), state(3), rtol=0, atol=0)


def test_the_last_two_are_kept(tmp_path):
    checkpoints = filled(tmp_path, 1, 2, 3, 10, 200)
    assert [int(path.name.split("-")[1]) for path in checkpoints.paths()] == [10, 200]
    assert newest(checkpoints) == (200, [])


def test_no_folder_means_no_checkpoint(tmp_path):
    assert newest(Checkpoints(tmp_path / "none", RUN)) == (None, [])


@settings(max_examples=90, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), bit=st.none() | st.integers(0, 7))
def test_a_flipped_bit_or_a_cut_anywhere_is_found_and_the_previous_used(tmp_path, place, bit):
    whole, run = tmp_path / "whole", tmp_path / "run"
    if not whole.exists():
        filled(whole, 10, 20)
    shutil.rmtree(run, ignore_errors=True)
    checkpoints = Checkpoints(shutil.copytree(whole, run), RUN)
    path = checkpoints.paths()[-1]
    data = bytearray(path.read_bytes())
    at = int(place * len(data))
    if bit is None:
        del data[at:]
    else:
        data[at] ^= 1 << bit
    path.write_bytes(data)
    step, refused = newest(checkpoints)
    assert step == 10
    assert len(refused) == 1 and path.name in refused[0] and "damaged" in refused[0]


def test_both_damaged_means_none_and_both_are_named(tmp_path):
    checkpoints = filled(tmp_path, 10, 20)
    paths = checkpoints.paths()
    for path in paths:
        path.write_bytes(b"")
    step, refused = newest(checkpoints)
    assert step is None and all(p.name in line for p, line in zip(paths[::-1], refused, strict=True))


def test_a_refused_file_is_set_aside_and_not_counted(tmp_path):
    checkpoints = filled(tmp_path, 10, 20)
    bad = checkpoints.paths()[-1]
    bad.write_bytes(b"x")
    newest(checkpoints)
    checkpoints.save(state(30), 30)
    assert (tmp_path / f"refused-{bad.name}").exists()
    assert [int(path.name.split("-")[1]) for path in checkpoints.paths()] == [10, 30]


def test_what_is_no_checkpoint_of_this_run_is_refused_by_name_and_never_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    checkpoints = filled(tmp_path / "run", 10)
    stranger = Checkpoints(tmp_path / "other", fingerprint({"seed": 1})).save(state(20), 20)
    for data, reason in (
        (stranger.read_bytes(), "belongs to run"),
        (pickle.dumps(Bomb()), "not a safetensors file"),
        (checkpoints.paths()[0].read_bytes(), "does not hold the step"),
    ):
        path = tmp_path / "run" / f"checkpoint-00000020-{hashlib.sha256(data).hexdigest()}.safetensors"
        path.write_bytes(data)
        step, refused = newest(checkpoints)
        assert step == 10 and path.name in refused[0] and reason in refused[0]
    assert not (tmp_path / "exploded").exists()


def test_reading_a_file_that_is_no_checkpoint_is_an_error(tmp_path):
    path = tmp_path / "weights.bin"
    path.write_bytes(b"?")
    with pytest.raises(CheckpointError, match=r"weights\.bin"):
        Checkpoints(tmp_path, RUN).read(path)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "log"
    write_atomically(path, b"old")

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"


def test_leftovers_of_a_killed_write_are_swept(tmp_path):
    (tmp_path / ".checkpoint-00000005-half.safetensors.writing").write_bytes(b"half")
    checkpoints = filled(tmp_path, 10)
    assert newest(checkpoints) == (10, [])
    assert [path.name for path in tmp_path.iterdir()] == [checkpoints.paths()[0].name]


def test_fingerprints_tell_settings_apart_but_not_their_order():
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": 2})
