"""What a release rests on: versions that agree, lower bounds that can be listed, actions that are pinned."""

import re
import tomllib

import pytest

from docs.pages import ROOT, module, write_numbers

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
