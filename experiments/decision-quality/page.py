from typing import Any


def page(r: Any) -> str:
    return "# x"


FIGURES = {}
