"""Formulas as MathML, made at build time: browsers render it without scripts or requests."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

# Typographic rules: a logarithm gets thin space around it, but none before a bracket; neither does a maximum; in a
# display formula, the subscript of a minimum goes below it.
LOG = re.compile(r"<mi>log</mi>(?!<mo[^>]*>&#x00028;)")
EXTREME = re.compile(r"<mo>(max|min)</mo>")
UNDER = re.compile(r"<msub><mo>(max|min)</mo>(<mi>[^<]*</mi>|<mrow>.*?</mrow>)</msub>")


def formula(latex: str, display: str) -> str:
    """Convert a LaTeX formula to MathML."""
    drawn = LOG.sub('<mo lspace="0.17em" rspace="0.17em">log</mo>', convert(latex, display=display))
    if display == "block":
        drawn = UNDER.sub(r"<munder><mi>\1</mi>\2</munder>", drawn)
    return EXTREME.sub(r"<mi>\1</mi>", drawn)


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append('<span class="math">' + formula(node.astext(), "inline") + "</span>")
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append('<div class="math">' + formula(node.astext(), "block") + "</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
