"""docs/build_site.py as a module, building into a folder of the test's own."""

import pytest

from docs.pages import DOCS, module


@pytest.fixture
def site(tmp_path, monkeypatch):
    module("build_gallery", DOCS / "build_gallery.py")  # which build_site imports
    build_site = module("build_site", DOCS / "build_site.py")
    for name in ("SOURCE", "SITE", "DOCTREES"):
        monkeypatch.setattr(build_site, name, tmp_path / name.lower())
    return build_site
