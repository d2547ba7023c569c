"""What needs no table: ``abstain demo`` shows what a reject option saves on biopsies, with a picture and a report.

``abstain reproduce`` runs one of the published experiments in a checkout of the repository.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from abstain.cli.exit_codes import UsageError, one_line
from abstain.cli.options import Given
from abstain.cli.output.tables import check_table, table_written
from abstain.cli.progress import progress
from abstain.costs.costs import Costs
from abstain.estimators.svm.svc import RejectSVC
from abstain.plot.reject_region import RejectRegionDisplay
from abstain.report.from_estimator import report_for
from abstain.report.render import write_report

COSTS = Costs.from_table({"benign": {"malignant": 1}, "malignant": {"benign": 5}}, reject=0.3)
ANSWERS = ("benign", "malignant", "reject")
CS = (1, 3, 10, 30, 100, 300)
PICTURED = ("worst texture", "worst concave points")


class Outcome(NamedTuple):
    """The decisions of a classifier: rows for benign and malignant, a column for each of ANSWERS."""

    counts: NDArray[np.int64]
    mean_cost: float


class Demonstration(NamedTuple):
    """The same patients decided by three machines: without costs, with costs, and with costs and rejects."""

    trained_on: int
    plain: Outcome
    weighted: Outcome
    rejecting: Outcome


def demonstrate(seed: int = 0) -> Demonstration:
    """Train on half of scikit-learn's breast cancer set (malignant is the positive class) and decide the other half."""
    X_train, X_test, y_train, y_test = _halves(seed)
    weights = {"benign": COSTS.false_positive, "malignant": COSTS.false_negative}
    machines = (tuned(SVC(), "accuracy"), tuned(SVC(class_weight=weights), cheapness), tuned(RejectSVC(COSTS)))
    decided = (machine.fit(X_train, y_train).predict(X_test) for machine in machines)
    return Demonstration(len(y_train), *(outcome(y_test, answers) for answers in decided))


def tuned(machine: Any, scoring: Any = None) -> GridSearchCV:
    """Standardise, then choose C by cross-validation; None is the machine's own score, for RejectSVC minus the cost."""
    name = type(machine).__name__.lower()
    return GridSearchCV(make_pipeline(StandardScaler(), machine), {f"{name}__C": CS}, scoring=scoring)


def cheapness(machine: Any, X: NDArray[Any], y: NDArray[Any]) -> float:
    """Return minus the mean cost, for machines with another score."""
    return -COSTS.mean_cost(y, machine.predict(X))


def outcome(truth: NDArray[Any], decided: NDArray[Any]) -> Outcome:
    """Count the decisions and compute their mean cost."""
    counts = [[np.sum((truth == row) & (decided == column)) for column in ANSWERS] for row in ANSWERS[:2]]
    return Outcome(np.array(counts), COSTS.mean_cost(truth, decided))


def picture(path: Path, seed: int = 0) -> None:
    """Train on two features only, so that the regions can be drawn, and plot the other half of the patients."""
    from matplotlib.figure import Figure  # of another extra, which the tables do not need

    X_train, X_test, y_train, y_test = _halves(seed, PICTURED)
    model = tuned(RejectSVC(COSTS)).fit(X_train, y_train).best_estimator_
    figure = Figure(figsize=(7.0, 5.2), layout="constrained")
    shown = RejectRegionDisplay.from_estimator(model, X_test, y_test, ax=figure.subplots())
    shown.ax_.set(title=f"Benign, malignant, or reject: {len(y_test)} biopsies", xlabel=PICTURED[0], ylabel=PICTURED[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def report(path: Path, seed: int = 0) -> str:
    """Write the report of the machine with rejects on new patients; return where it is."""
    X_train, X_test, y_train, y_test = _halves(seed)
    model = tuned(RejectSVC(COSTS)).fit(X_train, y_train)
    title, question = "Biopsies: benign, malignant, or reject", "Is the tumour benign or malignant?"
    shown = report_for(model, X_test, y_test, title=title, question=question, unseen=True)
    write_report(shown, path, force=True)
    return f"The report (open it in a browser): {path}"


def words(shown: Demonstration) -> str:
    """The demonstration as a page of text."""
    plain, rejecting = shown.plain, shown.rejecting
    saved = 1 - rejecting.mean_cost / plain.mean_cost
    miss, alarm, reject = COSTS.false_negative, COSTS.false_positive, COSTS.reject
    return f"""\
Is the tumour benign or malignant? Trained on {shown.trained_on} biopsies, tested on {plain.counts.sum()} new ones.
A missed cancer costs {miss:g}, a false alarm {alarm:g}, a reject (another test) {reject:g}.

A plain SVM must decide every case:
{_table(plain)}
  cost per patient {plain.mean_cost:.3f} (or {shown.weighted.mean_cost:.3f} with the costs as class weights)

abstain rejects {rejecting.counts[:, 2].sum()} cases, where that is cheaper than deciding:
{_table(rejecting)}
  cost per patient {rejecting.mean_cost:.3f}, {abs(saved):.0%} {"less" if saved >= 0 else "more"} than the plain SVM
"""


def over_splits(runs: Sequence[Demonstration]) -> str:
    """Mean costs over several splits, and how often rejecting was cheapest."""
    plain, weighted, rejecting = np.array([[one.mean_cost for one in run[1:]] for run in runs]).T
    costs = f"{weighted.mean():.3f} (with class weights)\nand {rejecting.mean():.3f} (abstain)"
    won = f"abstain was the cheapest of the three in {np.sum(rejecting < np.minimum(plain, weighted))} of them"
    over = f"Over {len(runs)} random splits mean costs are {plain.mean():.3f} (plain SVM), {costs}"
    return f"A single split may be luck. {over}; {won}.\n"


def run_demo(given: Given) -> None:
    """Run the command."""
    if given.csv is not None:
        write_tables(given.csv, force=given.force)
        return
    path, runs = given.output / "reject_region.png", [demonstrate()]
    print(words(runs[0]))
    with progress("demo", given.splits) as done:
        for seed in range(1, given.splits):
            runs.append(demonstrate(seed))
            done(len(runs))
    print(over_splits(runs))
    picture(path)
    print(f"The reject region, on two of the thirty features: {path}")
    print(report(given.output / "report.html"))


def write_tables(path: Path, *, force: bool) -> None:
    """Write the biopsies as two tables, for training and for new patients, and print where they are."""
    names = load_breast_cancer().feature_names
    new = path.with_name(f"{path.stem}_new{path.suffix}")
    X_train, X_new, y_train, y_new = _halves(0)
    parts = ((path, X_train, y_train, "to train on"), (new, X_new, y_new, "new patients, to evaluate and predict"))
    for file, *_ in parts:
        check_table(file, force=force)
    for file, X, y, purpose in parts:
        columns = {name.replace(" ", "_"): column for name, column in zip(names, X.T, strict=True)}
        with table_written(file, force=force) as write:
            write(pl.DataFrame(columns | {"diagnosis": y}))
        print(f"{one_line(str(file))} written: {len(y)} biopsies, {purpose}")


def _halves(seed: int, features: Sequence[str] | None = None) -> list[NDArray[Any]]:
    data = load_breast_cancer()
    columns = [list(data.feature_names).index(name) for name in (features or data.feature_names)]
    y = np.array(["malignant", "benign"])[data.target]  # scikit-learn's target is 0 for malignant
    return list(train_test_split(data.data[:, columns], y, test_size=0.5, stratify=y, random_state=seed))


def _table(shown: Outcome) -> str:
    lines = [f"  {'':<16}{'decided benign':>15}{'decided malignant':>18}{'rejected':>11}"]
    rows = zip(ANSWERS, shown.counts, strict=False)
    lines += [f"  {f'{row.sum()} {name}':<16}{row[0]:>15}{row[1]:>18}{row[2]:>11}" for name, row in rows]
    return "\n".join(lines)


def run_reproduce(given: Given) -> None:
    """Run the command."""
    found = experiments(Path.cwd())
    if given.name is not None:
        raise SystemExit(reproduce(given.name, found))
    print("\n".join(found) if found else "This checkout has no experiments yet.")


def experiments(folder: Path) -> dict[str, Path]:
    """The experiments of the checkout that contains `folder`: the folders of experiments/ with a run.py."""
    roots = [root for root in (folder, *folder.parents) if _is_checkout(root)]
    if not roots:
        what = "reproduce needs a checkout of the repository, and this folder is not in one"
        raise UsageError(f"{what}; clone it and run this there.")
    return {script.parent.name: script for script in sorted((roots[0] / "experiments").glob("*/run.py"))}


def reproduce(name: str, found: dict[str, Path]) -> int:
    """Run an experiment in its own process and return its exit code."""
    if name not in found:
        known = ", ".join(found) or "none yet"
        raise UsageError(f"this checkout does not have the experiment {name!r}; it has: {known}.")
    return subprocess.run([sys.executable, found[name].name], cwd=found[name].parent, check=False).returncode  # noqa: S603


def _is_checkout(root: Path) -> bool:
    return (root / "pyproject.toml").is_file() and (root / "src" / "abstain").is_dir()
