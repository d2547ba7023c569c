"""Report -> one HTML file that fetches nothing and cannot run code from its data.

Three measures protect the page: the template escapes all its output; the data are JSON in a non-executable script
element, with every "<" escaped, and are shown only as text nodes; and the content security policy allows only the one
script and the one style sheet whose hashes it lists, and no network access.
"""

import base64
import hashlib
import json
import math
import os
from collections.abc import Sequence
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.files.format.atomic import whole_file
from abstain.report import text
from abstain.report.curves import tick_step
from abstain.report.model import Report
from abstain.report.slider import Slider


def render(report: Report) -> str:
    """Return the page as HTML.

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.report import Report, render
    >>> costs = Costs(reject=0.2)
    >>> page = render(Report.of([0, 1, 1], [-4.0, 0.0, 2.0], costs, costs.score_thresholds(), title="<u>"))
    >>> "<u>" in page, "&lt;u&gt;" in page
    (False, True)
    """
    slider, review, judged = report.slider, report.review, report.verdict
    scripts, payloads = list[str](), dict[str, Any]()
    values: dict[str, Any] = {"review": None, "machine": text.plain(judged.name, 200)}
    values["alternatives"] = [(text.plain(name, 200), cost) for name, cost in judged.alternatives]
    if slider is not None:
        values |= {"slider": slider, "measures": report.measures()}
        values["counts"] = slider.upwards(report.table.counts).tolist()
        scripts, payloads = ["report.js"], {"data": payload(slider)}
    if review is not None:
        words = review.words(review.rejected if slider is not None else None)
        at, rings = review.reviewed.tolist().index(review.rejected), [plot.rings for plot in report.plots]
        values["review"] = payloads["review-data"] = {"words": words, "at": at, "rings": rings}
        scripts = [*scripts, "review.js"]
    template = "table.html" if slider is None else "slider.html"
    return page_of(template, scripts, payloads, report=report, sentence=text.plain(judged.sentence, 2000), **values)


def page_of(template: str, scripts: Sequence[str] = (), payloads: Any = None, **values: Any) -> str:
    """Return the page of a template with these scripts and the data that they read."""
    style, sources = _file("report.css"), [_file(name) for name in scripts]
    allowed = " ".join(map(_hash, sources)) or "'none'"
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    about: dict[str, Any] = {"policy": policy, "style": style, "scripts": sources}
    about["payloads"] = {name: _json(data) for name, data in (payloads or {}).items()}
    about["version"] = metadata.version("abstain")
    page: str = _environment().get_template(template).render(about | values)
    return page


def write_report(report: Report, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write the page to a file, completely or not at all.

    Parameters
    ----------
    report : Report
        The report.
    path : path-like
        The file.
    force : bool, default=False
        Whether an existing file may be replaced.
    """
    target = Path(path)
    if target.exists() and not force:
        raise FileExistsError(f"{target} exists; pass force=True to replace it, or use another name.")
    page = render(report).encode()
    with whole_file(target) as file:
        file.write(page)
    return target


def payload(slider: Slider) -> dict[str, Any]:
    """The data that the page needs to recount at another reject cost."""
    costs, curves, steps, bars = slider.costs, slider.curves, slider.steps, slider.histogram
    return {
        "below": slider.below,
        "above": slider.above,
        "positiveAbove": slider.positive_above,
        "costs": {"aboveWrong": costs.false_positive, "belowWrong": costs.false_negative},
        "reject": [costs.reject_negative, costs.reject_positive],
        "thresholds": [_number(slider.thresholds.lower), _number(slider.thresholds.upper)],
        "cut": slider.cut,
        "followsPrice": slider.follows_price,
        "steps": {
            # exact bits, little-endian, so that thresholds separate the scores in the page as in Python
            "score": base64.b64encode(np.ascontiguousarray(steps.score, dtype="<f8").tobytes()).decode("ascii"),
            "below": None if steps.exact else steps.below.tolist(),  # each row belongs to one of the two classes
            "above": steps.above.tolist(),
        },
        "histogram": {
            "edges": _short(bars.edges),
            **{name: getattr(bars, name).tolist() for name in ("below", "above", "novel_below", "novel_above")},
        },
        "novel": {"rejected": slider.novel.sum(axis=1).tolist(), "forced": slider.novel.tolist()},
        "accuracy": _band([curves.accuracy]),
        "cost": {"shares": curves.shares, **_band(list(curves.cost))},
        "level": curves.accuracy.level,
    }


def _band(bands: list[Any]) -> dict[str, Any]:
    parts = {name: [_short(getattr(band, name)) for band in bands] for name in ("estimate", "lower", "upper")}
    return {"grid": _short(bands[0].grid), **parts}


def _short(values: NDArray[np.float64]) -> list[float]:
    """Round to six significant digits, enough for any screen."""
    return [float(f"{value:.6g}") for value in values.tolist()]


def _number(value: float) -> float | str:
    """The number, or its JavaScript name if JSON cannot represent it."""
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def _json(data: Any) -> str:
    """JSON that an HTML parser cannot mistake for an end tag or a comment."""
    dumped = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return dumped.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode('ascii')}'"


def _file(name: str) -> str:
    return resources.files("abstain.report").joinpath("page", name).read_text(encoding="utf-8")


def _environment() -> Any:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("The report needs jinja2; install it with: pip install 'abstain[report]'") from error
    environment = Environment(
        loader=FunctionLoader(_file), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"amount": text.amount, "share": text.share, "plain": text.plain, "step": tick_step}
    return environment
