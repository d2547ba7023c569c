"""A file appears whole or not at all: kill -9, a full disk and exceptions leave the old one as it was."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from abstain import load, save
from abstain.files.format.atomic import whole_file
from looping import quick

# Saves over and over; says so once the new file is written and about to be renamed.
SAVING = """
import os, pathlib, sys, time
from abstain import RejectSVC, save
import abstain.files.format.atomic as atomic
path, moment = sys.argv[1:]
clf = RejectSVC(C=2.0).fit([[float(i % 97), float(i % 89)] for i in range(400)], [i % 2 for i in range(400)])
if moment == "before renaming":
    atomic.os.fsync = lambda handle: (print("now", flush=True), time.sleep(60))
elif moment == "while writing":
    import abstain.files.model_file as saving
    whole = saving.write_members
    def slowly(file, members):
        file.write(b"PK")
        file.flush()
        print("now", flush=True)
        time.sleep(60)
    saving.write_members = slowly
else:
    print("now", flush=True)
while True:
    save(clf, path)
"""


def killed(path, moment, after=0.0):
    process = subprocess.Popen([sys.executable, "-c", SAVING, path, moment], stdout=subprocess.PIPE)  # noqa: S603
    assert process.stdout.readline() == b"now\n"
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("moment", quick(["while writing", "before renaming"], "before renaming"))
def test_kill_9_leaves_the_old_file(moment, machine, tmp_path):
    path = tmp_path / "model"
    save(machine, path)
    before = path.read_bytes()
    killed(path, moment)
    assert path.read_bytes() == before
    assert len([*tmp_path.iterdir()]) == 2  # the draft stays behind, under a name that nobody loads
    assert (load(path).dual_coef_ == machine.dual_coef_).all()


@pytest.mark.long
def test_kill_9_at_any_time_leaves_a_whole_file(machine, tmp_path):
    path = tmp_path / "model"
    save(machine, path)
    for after in (0.003, 0.011, 0.027):
        killed(path, "any", after)
        assert load(path).C in (machine.C, 2.0)


FULL = """
import resource, signal, sys
from abstain import load, save
model = load(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    save(model, sys.argv[1])
except OSError as error:
    print(type(error).__name__)
"""


def test_a_full_disk_leaves_the_old_file(machine, tmp_path):
    path = tmp_path / "model"
    save(machine, path)
    before = path.read_bytes()
    assert len(before) > 1000
    ended = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, text=True, check=True)  # noqa: S603
    assert ended.stdout == "OSError\n"
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]


def interrupted(path):
    with whole_file(path) as file:
        file.write(b"new")
        raise KeyboardInterrupt


def test_an_exception_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        interrupted(path)
    assert path.read_bytes() == b"old"
    assert [*tmp_path.iterdir()] == [path]
    with whole_file(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_permissions_are_those_of_any_new_file(tmp_path):
    with whole_file(tmp_path / "model") as file:
        file.write(b"x")
    (tmp_path / "other").touch()
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_link_goes_on_pointing_to_the_file(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("file")
    with whole_file(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_folder_that_is_not_there_is_an_error(machine, tmp_path):
    with pytest.raises(FileNotFoundError):
        save(machine, tmp_path / "absent" / "model")
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_a_replaced_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "model"
    path.touch(mode=0o600)
    with whole_file(path) as file:
        file.write(b"x")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(FileExistsError), whole_file(path, replace=False) as file:  # noqa: PT012
        file.write(b"new")
        path.write_bytes(b"precious")
    assert path.read_bytes() == b"precious"
    with pytest.raises(FileExistsError), whole_file(path, replace=False):
        pytest.fail("an existing file is refused before any work")
    assert [*tmp_path.iterdir()] == [path]
    path.unlink()
    with whole_file(path, replace=False) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert [*tmp_path.iterdir()] == [path]


def test_without_links_a_new_file_is_renamed(tmp_path, monkeypatch):
    def unsupported(*_):
        raise PermissionError

    monkeypatch.setattr(os, "link", unsupported)
    with whole_file(tmp_path / "file", replace=False) as file:
        file.write(b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert len([*tmp_path.iterdir()]) == 1


@pytest.mark.parametrize("given", ["pipe", "link"])
def test_a_pipe_is_written_to_and_stays(given, machine, tmp_path):
    """Devices go the same way; trying it on them would destroy /dev/null where it fails."""
    pipe, copy = tmp_path / "pipe", tmp_path / "copy"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    reader = threading.Thread(target=lambda: copy.write_bytes(pipe.read_bytes()), daemon=True)
    reader.start()
    save(machine, tmp_path / given)
    reader.join(10)
    assert pipe.is_fifo()
    assert load(copy).C == machine.C


def test_nothing_reaches_a_device_when_the_block_fails(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    handle = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted(pipe)
        assert os.read(handle, 10) == b""
    finally:
        os.close(handle)


def test_a_missing_folder_is_named_by_the_path_that_was_given(tmp_path):
    path = tmp_path / "no such folder" / "model"
    with pytest.raises(FileNotFoundError, match="its folder does not exist") as error, whole_file(path):
        pass
    assert error.value.filename == str(path)


def test_a_file_that_cannot_be_written_is_named_by_the_path_that_was_given(tmp_path, monkeypatch):
    def refused(draft, *_):
        raise PermissionError(errno.EACCES, "Permission denied", draft)

    monkeypatch.setattr("abstain.files.format.atomic.os.open", refused)
    with pytest.raises(PermissionError, match="Permission denied") as error, whole_file(tmp_path / "model"):
        pass
    assert error.value.filename == str(tmp_path / "model")
