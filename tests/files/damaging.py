"""Damage to the bytes of a model file, and the judge of what `load` does with it."""

import io
import zipfile

from abstain.files.format.container import LARGEST, write_members
from abstain.files.format.errors import ModelFileError
from abstain.files.model_file import read


def refused(raw):
    """Whether `load` refuses these bytes as it promises to; anything it takes is returned."""
    try:
        return None, read(io.BytesIO(raw), len(raw), LARGEST)
    except (ModelFileError, OSError) as error:
        reason = str(error)
    assert reason.endswith("."), "the reason is a sentence"
    assert len(reason.splitlines()) == 1
    return reason, None


def packed_again(raw, change):
    """The same members, changed, in a container like ours."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = change([(name, archive.read(name)) for name in archive.namelist()])
    file = io.BytesIO()
    write_members(file, {name: [memoryview(value)] for name, value in members})
    return file.getvalue()
