"""max_error beside MAPIE's binary risk control: coverage at equal promise, on the same calibrations."""

import numpy as np
import pytest

from abstain.rules.tuning.scored_rows import ScoredRows
from one_score import certify

pytest.importorskip("mapie", minversion="1.6", reason="mapie 1.6 is not installed; it is a peer, not a need")
risk_control = pytest.importorskip("mapie.risk_control")
MAX_ERROR, CONFIDENCE = 0.1, 0.9


def theirs(score, sign):
    """Share accepted by MAPIE's controller with 50 distances from the cut; 0 where it finds none."""
    farthest = np.sort(np.abs(score))[::-1]
    sizes = np.arange(50, 0, -1) * len(score) // 50
    controller = risk_control.BinaryClassificationController(
        predict_function=lambda s, distance: np.where(np.abs(s) > distance, (s > 0).astype(float), np.nan),
        risk=risk_control.BinaryRisk(
            risk_occurrence=lambda y_true, y_pred: y_pred != y_true,
            risk_condition=lambda _, y_pred: ~np.isnan(y_pred),
            higher_is_better=False,
        ),
        target_level=MAX_ERROR,
        confidence_level=CONFIDENCE,
        best_predict_param_choice=risk_control.abstention_rate,
        list_predict_params=np.array([farthest[k] if k < len(score) else 0.0 for k in sizes])[:, np.newaxis],
    )
    controller.calibrate(score, (sign > 0).astype(int))
    found = controller.best_predict_param
    return 0.0 if found is None else float(np.mean(np.abs(score) > found[0]))


def ours(score, sign):
    try:
        return certify(ScoredRows.of(score, sign > 0, cut=0.0), MAX_ERROR, CONFIDENCE)[1].coverage
    except ValueError:
        return 0.0


@pytest.mark.filterwarnings("ignore::UserWarning:mapie")
@pytest.mark.filterwarnings("ignore::RuntimeWarning:mapie")
@pytest.mark.parametrize(("shift", "flipped"), [(1.1, 0.0), (1.5, 0.075)])
def test_we_accept_more_at_the_same_promise(shift, flipped):
    rng = np.random.default_rng(1)
    coverages = []
    for _ in range(40):
        truth = np.where(rng.random(600) < 0.5, 1, -1)
        score = shift * truth + rng.normal(size=600)
        sign = np.where(rng.random(600) < flipped, -truth, truth)
        coverages.append((ours(score, sign), theirs(score, sign)))
    mean_ours, mean_theirs = np.mean(coverages, axis=0)
    assert mean_ours > mean_theirs
    assert mean_theirs > 0  # control: theirs does find thresholds
