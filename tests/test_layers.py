"""The line of ARCHITECTURE.md: a module imports only from its own layer and from layers to its left."""

import ast
import importlib.util
from pathlib import Path

import pytest

from looping import looped

LINE = "public_names datasets arguments compressed html frames reject_labels labels pairs costs losses kernels gammas "
LINE += "machines dual solvers rules estimators candidates preprocessing reasons files metrics comparison "
LINE += "review plot report cli"
LAYERS = LINE.split()
# the same inside the command line, whose files and folders are layers too
LINE = "exit_codes progress tables options input training output commands main entry_point"
COMMAND_LINE = LINE.split()
PACKAGE = Path(importlib.util.find_spec("abstain").origin).parent
ENTRIES = (PACKAGE / "__init__.py", PACKAGE / "__main__.py")
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if path not in ENTRIES)


def layer_of(module):
    return module.parts[0].removesuffix(".py")


def imported_layers(source, package="abstain"):
    """Layers of a package named by the imports of our own modules, wherever in the file they stand."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the layer"
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        found |= {name.removeprefix(f"{package}.").split(".")[0] for name in names if name.startswith(f"{package}.")}
    return found


def strays(source, layer):
    """Layers that `layer` must not import from, and modules that are no layer at all; `_native` is the solvers' own."""
    allowed = {*LAYERS[: LAYERS.index(layer) + 1], *(["_native"] if layer in ("dual", "machines", "solvers") else [])}
    return {name for name in imported_layers(source) if name in {*LAYERS, "_native"} and name not in allowed}


@looped(module=MODULES)
def test_imports_point_left(module):
    assert layer_of(module) in LAYERS, "a new layer needs its place in the line"
    assert strays((PACKAGE / module).read_text(encoding="utf-8"), layer_of(module)) == set()


@looped(
    module=[module.relative_to("cli") for module in MODULES if module.parts[0] == "cli" and module.stem != "__init__"]
)
def test_the_imports_of_the_command_line_point_left(module):
    at = COMMAND_LINE.index(layer_of(module))
    found = imported_layers((PACKAGE / "cli" / module).read_text(encoding="utf-8"), "abstain.cli")
    assert found & {*COMMAND_LINE} <= {*COMMAND_LINE[: at + 1]}


def test_the_judge_of_the_command_line_has_teeth():
    source = "def f():\n    from abstain.cli.commands.fit import fit\nfrom abstain.cli import options"
    assert imported_layers(source, "abstain.cli") >= {"commands", "options"}


@pytest.mark.parametrize(
    ("source", "layer", "stray"),
    [
        ("from abstain.estimators.svm.svc import RejectSVC", "costs", "estimators"),
        ("import abstain.plot.reject_region", "dual", "plot"),
        ("def f():\n    from abstain.solvers import smo", "kernels", "solvers"),
        ("from abstain import _native", "estimators", "_native"),
    ],
)
def test_the_judge_has_teeth(source, layer, stray):
    assert strays(source, layer) == {stray}


def test_modules_import_from_layers_and_not_from_the_package():
    # `from abstain import Costs` inside the library would hide which layer it comes from
    for module in MODULES:
        for node in ast.walk(ast.parse((PACKAGE / module).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "abstain":
                assert {alias.name for alias in node.names} <= {*LAYERS, "_native"}, module
