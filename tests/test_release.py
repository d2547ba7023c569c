"""What a release rests on: versions that agree, lower bounds that can be listed, actions that are pinned."""

import json
import re
import subprocess
import sys
import tomllib
import zipfile

import pytest

from docs.pages import ROOT, module, write_numbers

check_release = module("check_release", ROOT / ".github" / "check_release.py")
check_version = module("check_version", ROOT / ".github" / "check_version.py")
oldest = module("oldest", ROOT / "requirements" / "oldest.py")
ecosystem = module("write_ecosystem", ROOT / "docs" / "write_ecosystem.py")
versions = module("build_versions", ROOT / "docs" / "build_versions.py")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_files_name_one_version():
    found = check_version.versions()
    assert found["pyproject.toml"] == found["CITATION.cff"]
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert f'version: "{found["pyproject.toml"]}"' in recipe


def test_a_wrong_tag_is_refused(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    (tmp_path / "CITATION.cff").write_text("version: 1.2.3\n")
    (tmp_path / "CHANGELOG.md").write_text("## [Unreleased]\n\n## [1.2.3] - 2030-01-01\n")
    assert check_version.main("v1.2.3", tmp_path) is None
    assert "pyproject.toml has 1.2.3" in check_version.main("v1.2.4", tmp_path)


def test_the_page_has_the_table_of_the_last_check():
    found = json.loads(check_release.RESULTS.read_text(encoding="utf-8"))
    assert check_release.table(found) in check_release.PAGE.read_text(encoding="utf-8"), "run make release-check"
    assert {run["python"][:4] for wheel in found["wheels"] for run in wheel["runs"]} >= {"3.11", "3.12", "3.13"}
    for step in (run[name] for wheel in found["wheels"] for run in wheel["runs"] for name in ("install", "example")):
        assert 0 < step["processor_s"] < 30


@pytest.mark.parametrize(
    ("second", "different"),
    [
        ({"a": "1", "b": "2"}, []),
        ({"a": "1", "b": "3"}, ["b"]),
        ({"a": "1"}, ["b"]),
        ({"b": "2", "a": "1"}, ["x.whl: dates, modes or the order of files"]),
    ],
)
def test_differences_between_two_wheels_are_named(tmp_path, second, different):
    for folder, files in (("one", {"a": "1", "b": "2"}), ("two", second)):
        (tmp_path / folder).mkdir()
        with zipfile.ZipFile(tmp_path / folder / "x.whl", "w") as archive:
            for name, text in files.items():
                archive.writestr(zipfile.ZipInfo(name), text)
    assert check_release.differences(tmp_path / "one" / "x.whl", tmp_path / "two" / "x.whl") == different


def test_a_step_of_the_check_that_fails_stops_it_and_shows_why():
    with pytest.raises(SystemExit, match="the reason"):
        check_release.called(sys.executable, "-c", "import sys; sys.exit('the reason')")
    printed, seconds = check_release.timed(sys.executable, "-c", "sum(range(10**6)); print('done')")
    assert printed == "done\n"
    assert 0 < seconds["processor_s"] < 30
    assert check_release.interpreter("{}.{}".format(*sys.version_info)) is not None
    assert check_release.interpreter("1.5") is None


def test_every_requirement_has_a_lower_bound():
    assert {"numpy==2.0.*", "scipy==1.13.*", "scikit-learn==1.7.*"} <= set(oldest.oldest())


def test_the_conda_recipe_has_the_same_requirements():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    for one in PROJECT["project"]["dependencies"]:
        assert f"- {one.replace('>=', ' >=')}" in recipe


def test_actions_are_pinned_by_hash():
    used = [
        line
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for line in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    ]
    assert len(used) > 10
    for line in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", line) or line.startswith("./.github/")


@pytest.mark.parametrize(
    ("tags", "kept"),
    [([], []), (["v1.0.0", "v1.0.2", "v0.9.1", "v1.10.0", "v1.0.3rc1", "x"], ["v1.10.0", "v1.0.2", "v0.9.1"])],
)
def test_the_site_has_the_newest_patch_of_each_minor_version(tags, kept):
    assert versions.released(tags) == kept
    assert all(name in versions.front_page([*kept, "main"]) for name in [*kept, "main"])


MAKEFILE = """\
docs:
\ttest -f works
\tmkdir -p build/site/deep
\techo '<body><div class="sidebar-tree"></div>{}</body>' > build/site/index.html
\techo '<body>{}</body>' > build/site/deep/page.html
"""


@pytest.fixture
def released(tmp_path, monkeypatch):
    """A repository with two released versions and main, each with a site of its own."""

    def git(*command):
        settings = ["-c", "user.name=x", "-c", "user.email=x", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *settings, "-C", tmp_path, *command], check=True, capture_output=True)  # noqa: S603, S607

    for name, path in (("ROOT", ""), ("BUILD", "build"), ("TARGET", "build/versions")):
        monkeypatch.setattr(versions, name, tmp_path / path)
    git("init", "--quiet")
    (tmp_path / "works").touch()
    (tmp_path / ".gitignore").write_text("build/\n")
    for version in ("v1.0.0", "v1.1.0", "main"):
        (tmp_path / "Makefile").write_text(MAKEFILE.format(version, version))
        git("add", ".")
        git("commit", "--quiet", "-m", version)
        if version != "main":
            git("tag", "--no-sign", version)
    subprocess.run(["make", "-C", tmp_path, "docs"], check=True, capture_output=True)  # noqa: S603, S607
    return tmp_path, git


def test_the_site_has_every_version_from_its_own_files_and_links_to_all(released):
    versions.main()
    target, names = released[0] / "build" / "versions", ["v1.1.0", "v1.0.0", "main"]
    assert "url=v1.1.0/" in (target / "index.html").read_text()
    for own in names:
        for page in (target / own / "index.html", target / own / "deep" / "page.html"):
            text = page.read_text()
            assert f"{own}</body>" in re.sub("<details.*</details>", "", text)
            assert f"Version {own}<" in text
            links = [(page.parent / link).resolve() for link in re.findall(r'href="([^"]+)"', text)]
            assert links == [(target / name).resolve() for name in names]
    assert versions.called("git", "-C", released[0], "worktree", "list").count("\n") == 1


def test_a_version_whose_site_cannot_be_built_stops_all_and_leaves_no_worktree(released):
    root, git = released
    git("rm", "--quiet", "works")
    git("commit", "--quiet", "-m", "broken")
    git("tag", "--no-sign", "v1.2.0")
    with pytest.raises(subprocess.CalledProcessError, match="make"):
        versions.main()
    assert not (root / "build" / "versions" / "index.html").exists()
    assert versions.called("git", "-C", root, "worktree", "list").count("\n") == 1


def test_every_dependency_of_users_is_explained():
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| (?:`\w+`)? ?\| ([\w-]+) \|", page, re.MULTILINE)
    extras = re.findall(r"\w+", PROJECT["project"]["optional-dependencies"]["all"][0].partition("[")[2])
    wanted = [*PROJECT["project"]["dependencies"]]
    wanted += [one for extra in extras for one in PROJECT["project"]["optional-dependencies"][extra]]
    assert shown == [re.split(r"[\[<>=;]", one)[0] for one in wanted], "run python docs/write_dependencies.py"


def test_the_page_of_other_libraries_has_all_lines():
    script = (ROOT / "docs" / "write_ecosystem.py").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "ecosystem.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| ([\w-]+) \| `[\d.]+` \| yes \|", page, re.MULTILINE)
    assert shown == re.findall(r'^    \(\s*"([\w-]+)",', script, re.MULTILINE), "run python docs/write_ecosystem.py"


def test_the_page_of_other_libraries_has_a_test_for_every_line_on_scikit_learn():
    page = (ROOT / "docs" / "ecosystem.md").read_text(encoding="utf-8")
    part = page.partition("## scikit-learn\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (?!tool |---)(.*?)[,:]? ", part, re.MULTILINE)
    assert rows == [start.rstrip(":") for start in ecosystem.OURS]
    tests = (ROOT / "tests" / "test_ecosystem.py").read_text(encoding="utf-8")
    for start in (one for listed in ecosystem.OURS.values() for one in listed):
        of, _, name = start.partition("::")
        assert re.search(rf"class {of}:.*?def {name or 'test_'}", tests, re.DOTALL)


def test_the_paper_has_the_numbers_of_the_results_and_only_references_that_exist():
    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    assert write_numbers.written(text) == text, "run python docs/write_numbers.py"
    listed = (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")
    known = set(re.findall(r"^@\w+\{([\w-]+),", listed, re.MULTILINE))
    assert set(re.findall(r"(?<![\w.])@([\w-]+)", text)) == known
    for picture in re.findall(r"^!\[[^\]]*\]\(([^)]+)\)", text, re.MULTILINE):
        assert (ROOT / "paper" / picture).is_file()
