"""Sphinx configuration; docs/build_site.py collects the source files."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "abstain"
author = "The abstain developers"
copyright = author  # noqa: A001 (Sphinx's name)
release = version = installed("abstain")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "mathml",
]
templates_path = ["_templates"]
default_role = "py:obj"  # single backticks in a docstring link to our own names

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_typehints = "none"  # the docstrings describe the types
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

doctest_global_setup = "import matplotlib; matplotlib.use('Agg')"

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = "abstain"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"


def setup(app: object) -> None:
    """Skip scikit-learn's metadata routing methods, which its own pages document."""

    def skip(_app: object, _what: str, name: str, _object: object, skipped: bool, _options: object) -> bool | None:
        routing = name == "get_metadata_routing" or (name.startswith("set_") and name.endswith("_request"))
        return True if routing or skipped else None

    app.connect("autodoc-skip-member", skip)  # type: ignore[attr-defined]
