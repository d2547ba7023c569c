r"""The checksum of a data set, taken over its numbers rather than its file.

::

    SHA-256 of  "n d\n"  data as little-endian float64, row by row  target as little-endian int64

So the file in the data folder, the public file and scikit-learn's copy of a data set have the same checksum. The
checksums below were computed from the data folder; every load computes `checksum` of its `Table` and compares.
"""

from __future__ import annotations

import hashlib

import numpy as np

from public_data.table import Table

__all__ = ["CHECKSUMS", "checksum", "verify"]

BLOCK = 1 << 12  # rows converted at a time: Covertype in float64 is a quarter of a gigabyte

CHECKSUMS = {
    "letter": "6e481aecdd094aa7adbddf9dff62565d4d70f4a7b46be9924c7bb8db55269dc4",
    "wdbc": "b8df79374b1dfb0248c71f3199b27443b1846367e0de8fa9db44b0029b19a49f",
    "pima": "5ccc387c904aabac1f49b35546b8aea4be9250f0af092c47825d16ab665a9fb3",
    "liver": "6b31065d0b5cb24ca2e32c6b83a8de25afd159fe7054bf34a229c4244dae2111",
    "thyroid": "fa8dc8b1b923d7695aaf0d6a5cebca6d49ea8966762231a8aa037cbc0a4168bd",
    "german": "ac9794a54bce1d8e79750417914196821e7e64f794cdaa020e8e297e26496160",
    "german_numeric": "092667ffaa1274dfd39f86dee326f5658d65d350c013e98405828df3068029aa",
    "heart": "17d4c6c028c7ae2f1d996fde73cb6bdc218b387ccb69b010e3f9a6f14be7c529",
    "covtype_4v6": "4bd421bfacab4a1eeb2e1f63ca8e979ea2101e25eacdd93b5f4eed90e14a3bf1",
    "covtype": "cf5952c7b693275cb87a17b07b466940d487996614fc264b68804a511fe11d36",
    "mitbih_beats": "c679adc23d1655688adc454851b62873f82ce486bf5718f21ca1ed167a98bada",
    "mitbih_features": "d46e68f8affa56e54bcf29bb0e620c10fd1e43e540e10bad279ada561a34d2ed",
    "pbmc68k": "3d4210cb80afb3bd3d3a176eb09b86b3058cfab11a4892f9ed0a8b356cc570d2",
}


def checksum(table: Table) -> str:
    """SHA-256 of the numbers of a table, in hexadecimal."""
    data, target = table.data, table.target
    digest = hashlib.sha256(f"{data.shape[0]} {data.shape[1]}\n".encode())
    for start in range(0, len(data), BLOCK):
        digest.update(np.ascontiguousarray(data[start : start + BLOCK], dtype="<f8").data)
    digest.update(np.ascontiguousarray(target, dtype="<i8").data)
    return digest.hexdigest()


def verify(name: str, table: Table, origin: str, way_out: str) -> None:
    """Raise an error unless the table is bitwise equal to the data set of that name."""
    found = checksum(table)
    if found != CHECKSUMS[name]:
        rows, columns = table.data.shape
        raise ValueError(
            f"{origin} does not hold the data set {name!r}: its {rows} x {columns} table has the SHA-256 checksum "
            f"{found[:16]}..., not {CHECKSUMS[name][:16]}...; {way_out}."
        )
