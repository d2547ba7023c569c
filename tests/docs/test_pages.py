"""The pages without Sphinx: their examples print what they show, their links and pictures lead somewhere."""

import contextlib
import doctest
import io
import re

import matplotlib as mpl
import pytest

import abstain
from abstain.candidates.machines import MACHINES
from docs.pages import DOCS, PAGES, ROOT, WRITTEN

mpl.use("Agg")
# pages that docs/build_site.py brings from elsewhere
STAGED = {f"{name}.md": ROOT / f"{name.upper()}.md" for name in ("changelog", "contributing", "security")}
LINK = re.compile(r"(!?)\[[^\]]*\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(text):
    """What links into a page may name: its labels and its headings, spelled as MyST and GitHub do."""
    words = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", words, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


def home(target):
    """The file of the repository that a link on a page leads to once the site is built; None if nowhere."""
    if target in STAGED:
        return STAGED[target]
    drawn = re.fullmatch(r"figures/(\w+)\.svg", target)
    path = DOCS / (f"figures/{drawn[1]}.py" if drawn else target)
    return path if path.is_file() else None


def broken(text, own):
    """The links of a page that lead nowhere."""
    found = []
    for _, target, anchor in LINK.findall(text):
        leads_to = home(target) if target else own
        if leads_to is None or (anchor and anchor not in anchors(leads_to.read_text(encoding="utf-8"))):
            found.append(f"{target}#{anchor}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_and_pictures_lead_somewhere(page):
    assert broken(page.text, page.path) == []


@pytest.mark.parametrize(
    "link", ["[x](nowhere.md)", "![x](figures/nowhere.svg)", "[x](theory.md#nowhere)", "[x](#nowhere)"]
)
def test_a_link_that_leads_nowhere_is_found(link):
    assert broken(link, DOCS / "theory.md")


def test_every_page_is_in_the_table_of_contents():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```\{toctree\}(.*?)```", index, re.DOTALL)
    listed = {line for block in blocks for line in block.splitlines() if line and not line.startswith(":")}
    pages = {page.path.stem for page in PAGES} | {name.removesuffix(".md") for name in {*WRITTEN, *STAGED}}
    assert pages - {"index"} == listed


@pytest.mark.parametrize("page", [page for page in PAGES if page.examples()], ids=str)
def test_examples_print_what_the_page_shows(page, whole_machines, monkeypatch):
    for name, machine in whole_machines.items():
        monkeypatch.setitem(MACHINES, name, machine)
    test = doctest.DocTestParser().get_doctest(page.examples(), {}, page.path.name, str(page.path), 0)
    said = io.StringIO()
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.write)
    assert result.attempted > 0
    assert result.failed == 0, said.getvalue()


def test_an_example_that_prints_something_else_is_found():
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "control", None, 0)
    with contextlib.redirect_stdout(io.StringIO()):
        assert doctest.DocTestRunner(verbose=False).run(test).failed == 1


def test_no_page_shows_a_path_of_some_machine():
    for page in PAGES:
        assert not re.search(r"/(?:tmp|home|root|work|Users)/", page.text), page


PUBLIC = {"abstain": abstain, **{f"abstain.{name}": getattr(abstain, name) for name in abstain._MODULES}}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_on_the_page_of_the_api(name):
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    parts = re.findall(rf"currentmodule:: {re.escape(name)}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    listed = {line.split(".")[-1].strip() for part in parts for line in part.splitlines()}
    assert set(PUBLIC[name].__all__) - {"__version__"} - listed == set()


def in_place_of(text):
    """What a code host shows in place of each directive of the site, and the directive."""
    return re.findall(r"<!-- code host -->\n(.*?)<!-- site\n(.*?)-->\n", text, re.DOTALL)


def test_a_code_host_lists_the_names_of_the_api_and_the_experiments(site):
    for shown, directive in in_place_of((DOCS / "api.md").read_text(encoding="utf-8")):
        names = re.findall(r"^   ([\w.]+)$", directive, re.MULTILINE)
        inside = re.search(r"currentmodule:: abstain(.*)", directive)[1]
        assert re.findall(r"`(.*)`", shown) == [f"abstain{inside}.{name}" if inside else name for name in names]
    [(shown, _)] = in_place_of((DOCS / "reproductions.md").read_text(encoding="utf-8"))
    titles = {page.parent.name: page.read_text(encoding="utf-8").partition("\n")[0] for page in site.experiment_pages()}
    assert {name: f"# {title}" for title, name in re.findall(r"- \[(.*)\]\(.*/([\w-]+)/README.md\)", shown)} == titles


def test_the_site_has_directives_where_a_code_host_has_words(site):
    page = "a\n\n<!-- code host -->\nwords\n<!-- site\n```{toctree}\nx\n```\n-->\n\n```pycon\n>>> 1\n```\n"
    assert site.for_site(page) == "a\n\n```{toctree}\nx\n```\n\n```{doctest}\n>>> 1\n```\n"


def test_the_site_gathers_all_it_needs(tmp_path, site):
    site.gather()
    for page in [*PAGES, *STAGED]:
        assert (tmp_path / "source" / str(page)).is_file()
    assert "SVC" in (tmp_path / "source" / "benchmarks" / "results.txt").read_text(encoding="utf-8")
    listed = (tmp_path / "source" / "reproductions" / "list.txt").read_text(encoding="utf-8")
    for page in site.experiment_pages():
        name = page.parent.name
        assert f"reproductions/{name}/README" in listed
        shown = tmp_path / "source" / "reproductions" / name / "README.md"
        targets = [target for _, target, _ in LINK.findall(shown.read_text(encoding="utf-8")) if target]
        assert [target for target in targets if not (shown.parent / target).is_file()] == []


def test_the_pages_of_the_experiments_link_to_files_that_are_there():
    for page in (ROOT / "experiments").glob("*/README.md"):
        targets = [target for _, target, _ in LINK.findall(page.read_text(encoding="utf-8")) if target]
        assert [target for target in targets if not (page.parent / target).exists()] == [], page
