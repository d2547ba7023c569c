"""What every kind of costs has in common: prices, the cheapest action, cuts, units, and values that never change."""

# ruff: noqa: PD011 (.values is that of a table of costs)

import pickle

import numpy as np
import pandas as pd
import pytest

from abstain.costs.cuts import envelope
from abstain.costs.per_row import row_table
from abstain.labels import NO_CLASS, Labels
from abstain.losses.tangent_hinge import task_tangents
from cost_kinds import KINDS, N_ROWS, of_row, probabilities, varied


def where(condition):
    """Parametrise over the kinds that meet a condition."""
    found = {name: kind for name, kind in KINDS.items() if condition(kind)}
    return pytest.mark.parametrize("kind", found.values(), ids=found)


every = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
by_row = where(lambda kind: kind.by_row)
of_two = where(lambda kind: kind.labels.n_classes == 2)


def costs_by_hand(table, P):
    """The expected cost of each action for each row, by loops over the cells."""
    found = np.zeros((len(P), table.n_actions))
    for row, p in enumerate(P):
        for truth in range(table.n_classes):
            for action in range(table.n_actions):
                found[row, action] += p[truth] * float(of_row(table, row).values[truth, action])
    return found


@every
def test_costs_are_cells_of_the_table(kind):
    table, rng = kind.table, np.random.default_rng(1)
    truth, choice = rng.integers(0, table.n_classes, N_ROWS), rng.integers(0, table.n_actions, N_ROWS)
    cells = [of_row(table, row).values[truth[row], choice[row]] for row in range(N_ROWS)]
    assert table.of(truth, choice).tolist() == cells
    every_action = np.repeat(np.arange(table.n_actions)[:, np.newaxis], N_ROWS, axis=1)  # the last axis has the rows
    assert table.of(truth, every_action)[choice, np.arange(N_ROWS)].tolist() == cells


@every
def test_the_cheapest_action_is_that_of_brute_force(kind):
    table, P = kind.table, probabilities(kind)
    expected = costs_by_hand(table, P)
    np.testing.assert_allclose(table.means(P), expected, rtol=1e-12)
    np.testing.assert_array_equal(table.cheapest(P), expected.argmin(axis=1))
    answers = np.flatnonzero(~table.rejecting)
    np.testing.assert_array_equal(table.cheapest(P, forced=True), answers[expected[:, answers].argmin(axis=1)])
    assert len(np.unique(expected.argmin(axis=1))) > 2  # several actions are the cheapest somewhere


@every
def test_ties_go_to_the_answers_and_nan_hands_the_case_on(kind):
    table = kind.table
    level = table.with_values(np.ones_like(table.values))
    chosen = level.cheapest(probabilities(kind))
    assert not table.rejecting[chosen].any()
    P = np.full((N_ROWS, table.n_classes), np.nan)
    assert table.rejecting[table.cheapest(P)].all()
    assert not table.rejecting[table.cheapest(P, forced=True)].any()


@of_two
def test_cuts_on_the_log_odds_decide_as_expected_costs_do(kind):
    table, P = kind.table, probabilities(kind, seed=3)
    expected = costs_by_hand(table, P)
    ordered = np.sort(expected, axis=1)
    clear = ordered[:, 1] - ordered[:, 0] > 1e-9
    log_odds = np.log(P[:, 1]) - np.log(P[:, 0])
    np.testing.assert_array_equal(table.levels().decide(log_odds)[clear], expected.argmin(axis=1)[clear])
    answers = np.flatnonzero(~table.rejecting)
    forced = answers[expected[:, answers].argmin(axis=1)]
    np.testing.assert_array_equal(table.levels(forced=True).decide(log_odds)[clear], forced[clear])
    assert clear.sum() > N_ROWS - 3


@of_two
def test_on_a_cut_an_action_that_hands_on_is_chosen(kind):
    table = kind.table
    seen = 0
    for row in range(N_ROWS if kind.by_row else 1):
        levels = of_row(table, row).levels()
        for cut, below, above in zip(levels.cuts, levels.choices, levels.choices[1:], strict=False):
            handed = [action for action in (below, above) if table.hands_on[action]]
            wanted = handed[0] if handed else below
            scores = np.full(N_ROWS, cut)
            chosen = table.levels().decide(scores)[row] if kind.by_row else levels.decide([cut])[0]
            assert chosen == wanted
            seen += bool(handed)
    assert seen


@by_row
def test_each_row_is_a_table_of_its_own_to_the_last_bit(kind):
    table = kind.table
    for row in range(N_ROWS):
        one = of_row(table, row)
        np.testing.assert_array_equal(table.unitless[row], one.unitless)
        assert table.stakes[row] == one.stakes
        if kind.labels.n_classes > 2:
            assert not one.per_row
            together = task_tangents(table)[row]
            # one table of even costs needs one tangent of each class, its Bayes' cut: see test_tangents.py
            alone = task_tangents(one.with_values(one.values[np.newaxis]))[0]
            np.testing.assert_array_equal(together, alone)
            continue
        for forced in (False, True):
            levels, own = table.levels(forced=forced), one.levels(forced=forced)
            n = len(own.cuts)
            assert tuple(levels.cuts[row, :n]) == own.cuts
            assert np.isposinf(levels.cuts[row, n:]).all()
            assert tuple(levels.choices[row, : n + 1]) == own.choices
            assert tuple(levels.closed[row, :n]) == own.closed


@by_row
def test_scores_that_are_nan_hand_the_case_on(kind):
    table = kind.table
    if kind.labels.n_classes > 2:
        assert table.rejecting[table.cheapest(np.full((N_ROWS, 3), np.nan))].all()
        return
    chosen = table.levels().decide(np.full(N_ROWS, np.nan))
    can = np.asarray(table.can_hand_on)
    np.testing.assert_array_equal(table.rejecting[chosen], can)
    assert can.any()


def test_the_envelope_of_many_random_tables_is_that_of_each_to_the_last_bit():
    rng = np.random.default_rng(0)
    for n_actions in (2, 3, 5, 8):
        tables = rng.uniform(0, 1, (300, 2, n_actions)).round(rng.integers(1, 4))  # rounded: many ties
        hands_on = rng.random(n_actions) < 0.5
        among = np.flatnonzero(rng.random(n_actions) < 0.8) if n_actions > 3 else np.arange(n_actions)
        together = envelope(tables, hands_on, among)
        for row, table in enumerate(tables):
            one = envelope(table, hands_on, among)
            n = len(one.cuts)
            assert tuple(together.cuts[row, :n]) == one.cuts
            assert tuple(together.choices[row, : n + 1]) == one.choices
            assert (together.choices[row, n:] == one.choices[-1]).all()
            assert tuple(together.closed[row, :n]) == one.closed
            assert not together.closed[row, n:].any()


@every
@pytest.mark.parametrize("unit", [3.0, 0.01, 1 / 7, 1e-150, 1e120])
def test_a_factor_on_all_costs_changes_no_bit_but_the_costs(kind, unit):
    table = kind.table
    stated = table.with_values(table.values.round(3))  # three decimals, as costs are stated
    other = table.with_values(stated.values * unit)
    np.testing.assert_array_equal(stated.unitless, other.unitless)
    np.testing.assert_array_equal(task_tangents(stated), task_tangents(other))
    computed = table.with_values(table.values * unit)  # of rows with all digits: the last one may change
    np.testing.assert_allclose(computed.unitless, table.unitless, rtol=2e-15)
    np.testing.assert_allclose(computed.stakes, unit * table.stakes, rtol=1e-12)


@every
def test_the_stake_is_what_the_worst_answer_costs_more_than_the_best_action(kind):
    table = kind.table
    answers = np.flatnonzero(~table.rejecting)
    for row in range(3):
        cells = of_row(table, row).values
        by_hand = sum(max(line[a] for a in answers) - min(line) for line in cells)
        assert np.broadcast_to(table.stakes, N_ROWS)[row] == pytest.approx(by_hand)


@every
def test_it_is_a_value_that_never_changes(kind):
    table = kind.table
    same, other = table.with_values(table.values), table.with_values(2.0 * table.values)
    assert same == pickle.loads(pickle.dumps(same))  # noqa: S301 (our own bytes)
    assert hash(same) == hash(table.with_values(table.values))
    assert same != other
    with pytest.raises(AttributeError, match="costs are never changed"):
        table.values = other.values
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 0.0


@every
def test_some_rows_have_their_own_costs(kind):
    table, rows = kind.table, np.array([3, 0, 3])
    taken = table.take(rows)
    assert taken.per_row is kind.by_row
    for at, row in enumerate(rows):
        np.testing.assert_array_equal(of_row(taken, at).values, of_row(table, row).values)


@where(lambda kind: not kind.by_row)
def test_the_mean_cost_of_labels_is_that_of_the_cells(kind):
    table, labels = kind.table, kind.labels
    known = labels.classes.tolist()
    actions = table.names or [labels.reject_label if code == NO_CLASS else known[code] for code in table.answers]
    truth, choice = np.indices(table.values.shape).reshape(2, -1)
    y = [known[code] for code in truth]
    taken = np.array([actions[at] for at in choice], dtype=object if table.names else None)
    paid = kind.stated.mean_cost(y, taken, pos_label=None if table.names else labels.positive)
    assert paid == pytest.approx(table.values.mean())


class TestReadingRows:
    """Costs per row come as an array of classes and actions, or as a frame that names them."""

    @by_row
    def test_frames_by_pairs_and_by_texts_are_the_array(self, kind):
        named = kind.stated.named(kind.labels)
        values, known = varied(named), kind.labels.classes.tolist()
        reject = kind.labels.reject_label
        actions = named.names or [reject if code == NO_CLASS else known[code] for code in named.answers]
        cells = [(label, action) for label in known for action in actions]
        order = np.random.default_rng(0).permutation(len(cells))
        frame = pd.DataFrame(values.reshape(len(values), -1)[:, order])
        plain = row_table(values, kind.labels, named)
        for names in ([cells[at] for at in order], ["{}:{}".format(*cells[at]) for at in order]):
            frame.columns = pd.Index(names, tupleize_cols=False)
            np.testing.assert_array_equal(row_table(frame, kind.labels, named).values, plain.values)
        np.testing.assert_array_equal(plain.values, values)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda v: v[:, :2], r"shape \(n, 3, 4\), for the classes \[0, 1, 2\] and the actions \[0, 1, 2, -1\]"),
            (lambda v: v[0], r"its shape is \(3, 4\)"),
            (lambda v: v + np.eye(3, 4), "must be 0 for correct answers, and positive for other answers"),
            (lambda v: 0.0 * v, "positive for other answers and for rejects"),
            (lambda v: np.where(np.arange(4) == 3, np.nan, v), r"the cost of -1 when 0 is true=nan at row 0"),
            (lambda v: -v, r"finite numbers >= 0, got the cost of 1 when 0 is true=-\d"),
            (lambda v: pd.DataFrame(v.reshape(len(v), -1)), r"a column for each of .*, '0:0' and so on; it has \[0, 1"),
        ],
    )
    def test_what_is_not_costs_of_several_classes(self, change, said):
        kind = KINDS["several, by row"]
        with pytest.raises(ValueError, match=said):
            row_table(change(varied(kind.stated)), kind.labels, kind.stated)

    def test_the_number_of_rows_is_checked(self):
        kind = KINDS["several, by row"]
        with pytest.raises(ValueError, match="each of the 4 rows of X; it has 40 rows"):
            row_table(varied(kind.stated), kind.labels, kind.stated, 4)


class TestNames:
    @pytest.mark.parametrize("name", ["two by name", "several", "actions of two", "actions of several"])
    def test_the_classes_must_be_those_of_y(self, name):
        kind = KINDS[name]
        known = kind.labels.classes.tolist()
        more = [*known, "z" if isinstance(known[0], str) else 9]
        with pytest.raises(ValueError, match=r"name the classes \[.*\], but y has .*; name exactly the classes of y"):
            kind.stated.named(Labels.of(more, rejects=False))
        few = [known[0], "z" if isinstance(known[0], str) else 9]
        with pytest.raises(ValueError, match=r"but y has .*; name exactly the classes of y\.$"):
            kind.stated.named(Labels.of(few, rejects=False))
        if isinstance(known[0], str):
            with pytest.raises(ValueError, match=r"name exactly the classes of y\. If scikit-learn has encoded y as 0"):
                kind.stated.named(Labels.of([0, 1], rejects=False))
        if len(known) > 2:
            with pytest.raises(ValueError, match=r"name the class 2, but y has \[0, 1\].*or add rows of that class"):
                kind.stated.named(Labels.of(known[:2], rejects=False))

    def test_costs_without_names_fit_more_classes_if_they_are_even(self):
        three = Labels.of([0, 1, 2], rejects=True)
        np.testing.assert_array_equal(KINDS["several, even"].table.errors, 1 - np.eye(3))
        with pytest.raises(ValueError, match=r"differ between a positive and a negative class, but y has 3 classes"):
            KINDS["two"].stated.named(three)

    def test_exchanging_the_positive_class_exchanges_the_costs(self):
        last, first = KINDS["two"].table, KINDS["two, the first positive"].table
        np.testing.assert_array_equal(first.values, last.values[::-1])
        assert first.answers == last.answers[::-1]
        np.testing.assert_array_equal(first.errors, last.errors[::-1, ::-1])
        np.testing.assert_array_equal(first.levels().cuts, last.levels().turned().cuts)
