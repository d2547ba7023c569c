"""Values of C and gamma to try, as the options state them: a number of values, or the values themselves."""

from __future__ import annotations

from abstain.cli.exit_codes import UsageError
from abstain.cli.tables.notation import number_of


def stated_grid(
    name: str, text: str | None, one: float | None, words: tuple[str, ...] = ()
) -> int | list[float | str] | None:
    """Read ``7`` as a number of values and ``0.1,1,10`` or ``0.5`` as values; None if nothing is stated.

    Parameters
    ----------
    name : str
        The option without its final s and dashes: "C" or "gamma".
    text : str or None
        What ``--Cs`` or ``--gammas`` was given.
    one : float or None
        What ``--C`` or ``--gamma`` was given, which fixes the value.
    words : tuple of str
        Words that are values as well.
    """
    if text is None:
        return None if one is None else [one]
    if one is not None:
        raise UsageError(f"--{name} fixes the value and --{name}s={text} lists values to try; give one of the two.")
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1 and parts[0].isdecimal():
        if int(parts[0]) < 2:
            raise UsageError(
                f"--{name}s={text} must be a number of values of at least 2, or values to try such as 0.1,1,10; "
                f"--{name} fixes one."
            )
        return int(parts[0])
    return [part if part in words else _positive(name, text, part) for part in parts]


def _positive(name: str, text: str, part: str) -> float:
    value = number_of(part)
    if not 0.0 < value < float("inf"):
        raise UsageError(
            f"--{name}s={text} must be a number of values, such as 7, or positive values with commas between them, "
            f"such as 0.1,1,10; {part!r} is neither."
        )
    return value
