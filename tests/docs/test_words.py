"""One vocabulary on all pages: the words that stand for something else here, or for which there is another word."""

import re

import pytest

from abstain.cli.output.reports import READ_ME
from docs.pages import PAGES, ROOT, prose

INSTEAD = {
    r"prices?|priced": "cost",
    r"dear|dearer|dearest": "expensive",
    r"told apart|come by|came by|whoever": "plain words",
    r"abstentions?|abstains from|defer(?:s|red|ral)?": "reject",
    r"instances|observations|datapoints?": "rows",
    r"simply|basic|toy": "nothing",
    r"machine (?:knows|asks|speaks|wants|looks)": "no person",
}
TEXTS = {str(page): page.text for page in PAGES} | {"README.md": (ROOT / "README.md").read_text(encoding="utf-8")}
TEXTS["the sheet 'read me' of a review"] = "\n".join(READ_ME)


def wrong_words(text):
    """The words of a page that are not to be used."""
    return [found for words in INSTEAD for found in re.findall(rf"(?i)\b(?:{words})\b", prose(text))]


@pytest.mark.parametrize("name", TEXTS)
def test_the_pages_have_one_word_for_one_thing(name):
    assert wrong_words(TEXTS[name]) == []


@pytest.mark.parametrize("text", ["It pays the price.", "Dearer machines.", "The machine asks.", "Told apart."])
def test_a_wrong_word_is_found(text):
    assert wrong_words(text)


def test_code_may_have_any_word():
    assert wrong_words("`reject_price_sweep` and `price`") == []
