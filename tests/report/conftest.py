"""A page opened in a real Chromium, which records what it must not do."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from abstain.report import write_report


@dataclass
class Opened:
    """A page, and everything it said or asked for."""

    page: Any
    complaints: list = field(default_factory=list)
    requests: list = field(default_factory=list)
    dialogs: list = field(default_factory=list)

    def texts(self):
        """All that the page shows of its numbers, by name, in one question; the same in every place."""
        script = "all => all.map(one => [one.dataset.show, one.textContent])"
        shown = {}
        for name, text in self.page.eval_on_selector_all("[data-show]", script):
            assert shown.setdefault(name, text) == text, (name, text)
        return shown

    def text(self, name):
        return self.texts()[name]

    def counts(self):
        shown = self.texts()
        return [[int(shown[f"n{i}{j}"]) for j in range(3)] for i in range(2)]

    def set_price(self, price):
        self.page.locator("#typed").fill(repr(float(price)))
        assert self.page.locator("#typed-error").text_content() == ""


@pytest.fixture
def open_file(browser):
    """Open a file at a width; every message, error, request and dialogue is kept."""
    contexts = []

    def opened(path, width=1000, **settings):
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        seen = Opened(context.new_page())
        seen.page.on("console", lambda message: seen.complaints.append(message.text))
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.on("dialog", lambda dialog: (seen.dialogs.append(dialog.message), dialog.dismiss()))
        seen.page.goto(path.as_uri())
        return seen

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def open_report(open_file, tmp_path):
    """Write a report and open it; at the end the page must have been silent and alone."""
    seen = []

    def opened(report, **settings):
        path = write_report(report, tmp_path / f"report{len(seen)}.html")
        seen.append((path, open_file(path, **settings)))
        return seen[-1][1]

    yield opened
    for path, page in seen:
        assert page.complaints == []
        assert page.dialogs == []
        assert page.requests == [path.as_uri()]
