"""The costs of the demo are computed by hand here, and its claims read from its own tables."""

import matplotlib as mpl
import numpy as np
import pytest

from abstain.cli.commands import demo
from cli.running import run

mpl.use("Agg")


@pytest.fixture(scope="module")
def runs():
    return [demo.demonstrate(seed) for seed in range(6)]


@pytest.fixture(scope="module")
def shown(runs):
    return runs[0]


def test_counts_and_price_of_a_hand_made_case():
    truth = np.array(["benign", "benign", "benign", "malignant", "malignant", "malignant", "malignant", "malignant"])
    decided = np.array(["benign", "malignant", "reject", "malignant", "benign", "benign", "reject", "malignant"])
    judged = demo.outcome(truth, decided)
    np.testing.assert_array_equal(judged.counts, [[1, 1, 1], [2, 2, 1]])
    # one false alarm at 1, two misses at 5, two rejects at 0.3
    assert judged.mean_cost == pytest.approx((1 + 2 * 5 + 2 * 0.3) / 8)


def test_every_machine_answers_for_every_patient(shown):
    # WDBC: 357 benign, 212 malignant; half of them, stratified, are 179 (rounded up) and 106
    for machine in (shown.plain, shown.weighted, shown.rejecting):
        np.testing.assert_array_equal(machine.counts.sum(axis=1), [179, 106])
    assert shown.trained_on == 569 - 179 - 106


def test_costs_follow_from_the_tables(shown):
    for machine in (shown.plain, shown.weighted, shown.rejecting):
        (_, alarms, asked), (misses, _, asked_too) = machine.counts
        assert machine.mean_cost == pytest.approx((5 * misses + alarms + 0.3 * (asked + asked_too)) / 285)


def test_only_the_rejecting_machine_rejects(shown):
    assert shown.plain.counts[:, 2].sum() == shown.weighted.counts[:, 2].sum() == 0
    assert 0 < shown.rejecting.counts[:, 2].sum() < 0.5 * 285


def test_rejecting_pays_on_average(runs):
    # not on every split: a single one proves nothing
    plain, weighted, rejecting = (
        np.mean([getattr(run, name).mean_cost for run in runs]) for name in ("plain", "weighted", "rejecting")
    )
    assert rejecting < min(plain, weighted)


def test_splits_are_averaged_and_losses_admitted():
    cheap, dear = (demo.Outcome(np.array([[2, 0, 0], [0, 2, 0]]), cost) for cost in (0.1, 0.3))
    wins, loses = demo.Demonstration(4, dear, dear, cheap), demo.Demonstration(4, cheap, dear, dear)
    text = demo.over_splits([wins, loses, loses, loses])
    assert "0.150 (plain SVM)" in text  # (0.3 + 3 * 0.1) / 4
    assert "0.250 (abstain)" in text  # (0.1 + 3 * 0.3) / 4
    assert "in 1 of them" in text


def test_the_page_states_the_numbers(shown):
    lines = demo.words(shown).splitlines()
    malignant = [line.split()[2:] for line in lines if line.startswith("  106 malignant")]
    assert malignant == [[str(count) for count in machine.counts[1]] for machine in (shown.plain, shown.rejecting)]
    assert f"rejects {shown.rejecting.counts[:, 2].sum()} cases" in demo.words(shown)
    assert f"cost per patient {shown.plain.mean_cost:.3f}" in demo.words(shown)


def test_a_more_expensive_machine_is_not_called_cheaper():
    cheap = demo.Outcome(np.array([[2, 0, 0], [0, 2, 0]]), 0.1)
    dear = demo.Outcome(np.array([[2, 0, 0], [0, 1, 1]]), 0.2)
    assert "50% less" in demo.words(demo.Demonstration(4, dear, dear, cheap))
    assert "100% more" in demo.words(demo.Demonstration(4, cheap, cheap, dear))


def test_the_command_prints_the_page_and_writes_the_picture_and_the_report(tmp_path, shown):
    folder = tmp_path / "new"
    result = run("demo", "--output", folder, "--splits", 2)
    assert result.exit_code == 0, result.output
    assert demo.words(shown) in result.stdout
    assert "Over 2 random splits" in result.stdout
    picture, page = folder / "reject_region.png", folder / "report.html"
    assert f"The reject region, on two of the thirty features: {picture}\n" in result.stdout
    assert result.stdout.endswith(f"The report (open it in a browser): {page}\n")
    assert {*folder.iterdir()} == {picture, page}
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 200_000
    assert "Is the tumour benign or malignant?" in page.read_text(encoding="utf-8")
    assert str(page) in demo.report(page)  # a second time, over the first
