"""Tables in notebooks: what they show, and that no text in them becomes markup."""

from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import compared
from abstain import Costs, RejectSVC, ThresholdRejector, compare, metrics
from abstain.html import html_table, shortened
from abstain.labels import Labels
from abstain.rules.rule import Decisions

HOSTILE = '<img src=x onerror="alert(1)"></td>&'
TAGS = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "bdi", "p"}


class Read(HTMLParser):
    """The cells row by row, all text, and every tag and attribute."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.rows, self.text, self.tags, self.attributes = [], "", set(), set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_data(self, data):
        self.text += data
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def read(value):
    page = Read(value if isinstance(value, str) else value._repr_html_())
    assert page.tags <= TAGS
    assert page.attributes <= {"style"}
    return page


@pytest.fixture(scope="module")
def comparison():
    X, y = compared.rows()
    models = {HOSTILE: compared.Fixed(-0.2, 0.6), "twin": compared.Fixed(-0.2, 0.6), "bad": compared.Fixed(9.0, 9.0)}
    return compare(models, X, y, compared.COSTS, cv=2)


def test_hostile_text_stays_text():
    page = read(html_table(HOSTILE, ("a", HOSTILE), [(HOSTILE, 1.0)], HOSTILE))
    assert page.text.count(HOSTILE) == 4
    assert "img" in Read(HOSTILE).tags  # control: the reader sees it if it is not escaped


def test_costs_show_every_decision():
    page = read(Costs(1, 5, (0.25, 0.5)))
    assert page.rows[1:] == [["negative", "0", "0.25", "1"], ["positive", "5", "0.5", "0"]]


def test_a_comparison_says_which_models_cost_significantly_more(comparison):
    page = read(comparison)
    assert [row[0] for row in page.rows[1:4]] == [HOSTILE, "twin", "bad"]
    assert [row[0].split(" ")[0] for row in page.rows[4:]] == ["rejecting", "deciding", "deciding"]
    assert page.rows[1][1] == f"{comparison.mean_cost[0]:.4g}"
    more, same = page.text.split("Significantly more than that: ")[1].split("Not significantly more: ")
    assert more.startswith("bad, by ")
    assert same.startswith("twin. The cheapest is chosen on these rows, so its mean cost on new ones is a little ")


@pytest.mark.parametrize(
    ("curve", "column", "points"),
    [
        (metrics.risk_coverage_curve, "risk", ("100 %", "50 %")),
        (metrics.accuracy_reject_curve, "accuracy", ("0 %", "50 %")),
        (metrics.error_reject_curve, "error rate", ("0 %", "100 %")),
    ],
)
def test_curves_show_a_few_points(curve, column, points):
    found = curve([0, 1, 1, 1, 0, 1], [-2, 1, 0.5, -0.2, 0.1, 3])
    page = read(found)
    assert page.rows[0][1] == column
    assert (page.rows[1][0], page.rows[-1][0]) == points
    assert page.rows[1][1] == f"{found.at(float(points[0].removesuffix(' %')) / 100):.4g}"


def test_a_cost_curve_names_its_least_point():
    found = metrics.cost_curve([0, 1, 1, 1, 0, 1], [-2, 1, 0.5, -0.2, 0.1, 3], Costs(1, 1, 0.2))
    best = found.operating_point
    least = f"Least: {best.mean_cost:.4g}, if {100 * best.reject_rate:.1f} % are rejected; chosen on these rows."
    assert least in read(found).text


def test_decisions_show_first_and_last_rows_by_their_names():
    label = np.array([HOSTILE] * 12, dtype=object)
    labels = Labels.of(["a", "b"], rejects=True)
    costs, names = np.full((12, 3), np.nan), [f"p{i}" for i in range(12)]
    given = Decisions(label, np.arange(12) < 5, np.zeros(12), costs, label, labels, names)
    page = read(given)
    assert [row[0] for row in page.rows[1:]] == ["p0", "p1", "p2", "p3", "p4", "…", "p7", "p8", "p9", "p10", "p11"]
    assert page.rows[1][1:] == [HOSTILE, "yes", "ambiguous", "0", "–", "–", "–"]
    assert "12 rows, of which 5 are rejected" in page.text
    assert shortened(10) == list(range(10))


PRICES = Costs(1, 1, 0.2)


@pytest.mark.parametrize("clf", [RejectSVC(PRICES), ThresholdRejector(LogisticRegression(), PRICES)])
def test_decisions_keep_the_index_of_a_frame(clf):
    pd = pytest.importorskip("pandas")
    X, y = compared.rows(60)
    frame = pd.DataFrame(X, columns=["u", "v"], index=pd.Index([f"p{i}" for i in range(60)], name="patient"))
    clf.fit(frame, y)
    found = clf.decide(frame.iloc[::-1]).to_frame()
    pd.testing.assert_index_equal(found.index, frame.index[::-1])
    assert list(found["label"]) == list(clf.predict(frame.iloc[::-1]))
    rows = clf.fit(X, y).decide(X.tolist())  # a list has a method called index
    assert rows.index is None
    assert list(rows.to_frame().index) == list(range(60))
