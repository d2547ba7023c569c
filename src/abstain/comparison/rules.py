"""The default models of `abstain.compare`: the rules of the papers, and other machines with Chow's rule."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled

from abstain.candidates.machines import AUTO, BEST, CHOICES, LAPLACIAN, MACHINES, NAMES, SVM, SVMS
from abstain.candidates.search import MachineSearch
from abstain.costs.costs import Costs
from abstain.costs.per_row import mean_costs
from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.svm.svc_cv import RejectSVCCV
from abstain.estimators.threshold.threshold import ThresholdRejector

# Decades of C and a factor of 16 either way in gamma: enough for a fair comparison, in a third of the usual time.
_GRID: dict[str, Any] = {"Cs": 6, "gammas": 3}
_EMBEDDED_CS = tuple(np.logspace(-3, 1, 5).tolist())

CHOSEN, AUTOMATIC, MEAN = "best machine", "auto", ", mean costs"
BARTLETT_WEGKAMP, EMBEDDED = "Bartlett-Wegkamp", "embedded, linear"
EQUAL_COSTS = "it supports only equal error costs and one reject cost, and these costs differ by class"
TWO_CLASSES = "it supports only two classes that are answered or rejected, at one set of costs"
SPARSE = "it does not support sparse rows"


class Tuned(MachineSearch):
    """A search without an estimate of its own cost, which the comparison makes."""

    _judges = False


class AtMeans(Tuned):
    """A search at the mean costs, which those of the rows do not reach."""

    def _takes_row_costs(self, method: str) -> bool:  # noqa: ARG002
        return False


def default_rules(
    costs: Any,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sparse: bool = False,
    grouped: bool = False,
    machines: Sequence[str] = NAMES,
) -> dict[str, Any]:
    """The rules of the papers and other machines, on standardised features and tuned inside the training rows.

    "double hinge" (GRKC08), "Bartlett-Wegkamp" (BW08, symmetric costs only) and "embedded, linear" (FR02, symmetric
    costs only, linear as published) are trained with the reject cost; they choose C and gamma by the mean cost. So does
    "SVM with costs, no rejects", trained for the error costs alone and cut at their threshold: what rejecting must
    beat. The others apply a rule to the same plain SVM, which chooses C and gamma by its error rate: no rejects
    ("SVM"), one symmetric threshold (FR02, GRKC08's naive rule), T04's two thresholds, and Chow's rule on Platt's
    probabilities. Logistic regression, forests and boosted trees have Chow's rule, and their parameters are chosen by
    the mean cost.

    Several classes have one machine for each class against the rest, with tuned cuts and with Bayes' cuts, and a cut on
    the lead over the second class. `Actions` have the tangent hinge, with a knot at each cut. With costs per row, the
    hinge is trained and decides by them, Chow's rule on Platt's probabilities decides by them, and other rules use
    their means.

    Parameters
    ----------
    costs : CostTable
        The costs, perhaps of each row.
    pos_label : label, default=None
        The positive class of the costs.
    reject_label : label, default="auto"
        The label of a reject.
    sparse : bool, default=False
        Whether X is sparse; its features are then not centred.
    grouped : bool, default=False
        Whether the rules are fitted with groups, which their own folds then respect.
    machines : sequence of str
        Those that take part: "svm" for the rules of the papers, "laplacian" for the hinge with that kernel, "logistic",
        "forest", "boosting", "auto", which is what `MachineSearch` makes of the rows, and "best", which chooses one of
        the five inside the training rows.

    Returns
    -------
    dict of str to Pipeline
        Without the rules returned by `left_out`.
    """
    named = {"pos_label": pos_label, "reject_label": reject_label}
    rules = _of_machines(costs, machines, named, sparse=sparse)
    if SVM in machines:
        rules = _of_svms(costs, named, grouped=grouped) | rules
    if routing_enabled():
        for rule in rules.values():
            used = isinstance(rule, RejectSVCCV | ThresholdRejector) or type(rule) is MachineSearch
            if costs.per_row and used:
                rule.set_fit_request(row_costs=True).set_predict_request(row_costs=True)
            if grouped and not isinstance(rule, GridSearchCV):
                rule.set_fit_request(groups=True)
            if grouped and isinstance(rule, ThresholdRejector):
                rule.estimator.set_fit_request(groups=True)
    missing = left_out(costs, sparse=sparse, machines=machines)
    return {
        name: make_pipeline(StandardScaler(with_mean=not sparse), rule)
        for name, rule in rules.items()
        if name not in missing
    }


def _of_svms(costs: Any, named: dict[str, Any], *, grouped: bool) -> dict[str, Any]:
    """The rules on a kernel SVM; with costs per row, the one that uses them, and others at their means."""
    plain = RejectSVCCV(**_GRID)  # inside rejectors, which may fit it to the places of the classes
    answering, mean = costs.answering, mean_costs(costs) if costs.per_row else costs
    hinge, own = hinge_of(costs), own_costs(costs)
    rules: dict[str, Any] = {hinge: RejectSVCCV(own, **named, **_GRID)}
    if costs.per_row:
        rules[f"{hinge}{MEAN}"] = AtMeans(mean, (SVM,), svm=RejectSVCCV(**_GRID), n_jobs=-1, **named)
    chow = {"SVM, Chow on Platt": ThresholdRejector(plain, own, method="chow", **named)}
    if costs.per_row or not answering:
        return rules | chow
    methods = {"SVM, cut on the lead": "symmetric"}
    if costs.n_classes == 2:
        methods = {"SVM, one threshold": "symmetric", "SVM, two thresholds (ROC)": "roc"}
        rules[BARTLETT_WEGKAMP] = RejectSVCCV(costs, rule="bartlett-wegkamp", **named, **_GRID)
        rules[EMBEDDED] = _embedded(costs, named, grouped=grouped)
    else:
        rules["double hinge, Bayes' cuts"] = RejectSVCCV(costs, cuts="bayes", **named, **_GRID)
    never = costs.scaled(costs.largest_scale)  # the same error costs, with rejects that never pay
    rules["SVM with costs, no rejects"] = RejectSVCCV(never, **named, **_GRID)
    cut = {title: ThresholdRejector(plain, costs, method=method, **named) for title, method in methods.items()}
    return rules | {"SVM": RejectSVCCV(**named, **_GRID)} | cut | chow


def hinge_of(costs: Any) -> str:
    """The name of the loss of these costs."""
    return "double hinge" if costs.answering else "tangent hinge"


def own_costs(costs: Any) -> Any:
    """The costs that a machine is given which is fitted with those of each row, whose actions they name."""
    if not costs.per_row:
        return costs
    return None if costs.answering else mean_costs(costs)


def _of_machines(costs: Any, machines: Sequence[str], named: dict[str, Any], *, sparse: bool) -> dict[str, Any]:
    """Other machines with Chow's rule, and the choice among all, whose parameters are chosen by the mean cost."""
    search, used, suffix = (AtMeans, mean_costs(costs), MEAN) if costs.per_row else (Tuned, costs, "")
    shared: dict[str, Any] = {**named, "svm": RejectSVCCV(**_GRID), "n_jobs": -1}
    able = [name for name in CHOICES if name in SVMS or MACHINES[name].takes_sparse or not sparse]
    found: dict[str, Any] = {
        title_of(name) + suffix: search(used, (name,), **shared)
        for name in MACHINES
        if name in machines and name in able
    }
    chosen = {CHOSEN: MachineSearch(used, able, **shared)} if BEST in machines and not costs.per_row else {}
    if LAPLACIAN in machines:
        found[f"{hinge_of(costs)}, {LAPLACIAN}"] = RejectSVCCV(own_costs(costs), kernel=LAPLACIAN, **named, **_GRID)
    if AUTO in machines:  # the grid of `fit`: it is what would be fitted
        chosen[AUTOMATIC] = MachineSearch(own_costs(costs), **named, n_jobs=-1)
    return found | chosen


def left_out(costs: Any, *, sparse: bool = False, machines: Sequence[str] = NAMES) -> dict[str, str]:
    """The rules that cannot be compared at these costs or on sparse rows, each with the reason."""
    why = TWO_CLASSES if costs.per_row or not costs.pair else "" if costs.symmetric else EQUAL_COSTS
    found = dict.fromkeys((BARTLETT_WEGKAMP, EMBEDDED), why) if why else {EMBEDDED: SPARSE} if sparse else {}
    dense = [name for name in MACHINES if name in machines and not MACHINES[name].takes_sparse]
    return (found if SVM in machines else {}) | {title_of(name): SPARSE for name in dense if sparse}


def title_of(machine: str) -> str:
    """The name of a machine in a comparison."""
    return f"{machine}, Chow"


def _embedded(costs: Costs, named: dict[str, Any], *, grouped: bool) -> GridSearchCV:
    """FR02's machine, with C chosen by its score, minus the mean cost in units of an error."""
    w_R = min(costs.reject_negative / costs.false_positive, 1.0)
    folds = StratifiedGroupKFold(5) if grouped else 5
    return GridSearchCV(EmbeddedRejectSVC(w_R, **named), {"C": _EMBEDDED_CS}, cv=folds)
