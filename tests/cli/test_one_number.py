"""One number for one thing: the text, the JSON, the page and the predicted rows of the commands give the same."""

import base64
import csv
import io
import json
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

import abstain
from abstain import Costs, RejectSVC, ThresholdRejector
from abstain.cli.output.reports import write_comparison
from cli.running import run

ACTIONS = "action,no,yes,rejects\ntreat,1,0,no\nwait,0,5,no\ntest,0.3,0.4,yes\n"
KINDS = {
    "two classes": ("two", ("--pos-label", "yes", "--false-negative", 5, "--reject", 0.3)),
    "three classes": ("three", ("--reject", 0.3)),
    "actions": ("two", ("--actions",)),
}
FIXED = ("--C", 10, "--gamma", 0.5, "--no-novelty")
SEARCHED = ("--Cs", "1,10", "--gammas", "0.5,1", "--no-novelty")
OTHERS = [pytest.param(kind, marks=pytest.mark.long) for kind in [*KINDS][1:]]


@pytest.fixture(scope="module", params=["two classes", *OTHERS])
def made(request, tmp_path_factory):
    """Everything that the commands write about one table."""
    folder = tmp_path_factory.mktemp("one")
    (folder / "actions.csv").write_text(ACTIONS, encoding="utf-8")
    which, costs = KINDS[request.param]
    costs = (*costs, folder / "actions.csv") if costs[0] == "--actions" else costs
    data, model, searched = table(folder, which), folder / "model", folder / "searched"
    settings = ("--target", "answer", *costs)
    evaluate = ("evaluate", model, data, "--target", "answer")
    compare = ("compare", data, *settings, "--folds", 2, "--machine", "svm,logistic", "--seed", 3)
    return SimpleNamespace(
        kind=request.param,
        fit=both("fit", data, *settings, *FIXED, "-o", model, "--force"),
        search=both("fit", data, *settings, *SEARCHED, "-o", searched, "--force"),
        evaluate=both(*evaluate, "--report", folder / "evaluate.html", "--force"),
        evaluated=Page((folder / "evaluate.html").read_text(encoding="utf-8")),
        predicted=list(csv.DictReader(io.StringIO(run("predict", model, data).stdout))),
        compare=both(*compare, "-o", folder / "compare.html", "--force"),
        compared=Page((folder / "compare.html").read_text(encoding="utf-8")),
    )


def table(folder, which, n=120):
    rng = np.random.default_rng(0)
    names = {"two": ("no", "yes"), "three": ("x", "y", "z")}[which]
    code = np.arange(n) % len(names)
    rows = rng.normal(size=(n, 2)) + 1.4 * np.array([[0, 0], [1, 0.7], [2, -0.5]])[code]
    lines = [f"{a:.3f},{b:.3f},{names[k]}" for (a, b), k in zip(rows, code, strict=True)]
    path = folder / "table.csv"
    path.write_text("\n".join(["a,b,answer", *lines]) + "\n", encoding="utf-8")
    return path


def both(*command):
    """The text and the JSON of a command."""
    text, found = run(*command), run(*command, "--json")
    assert (text.exit_code, found.exit_code) == (0, 0), text.output + found.output
    return text.stdout, json.loads(found.stdout)


class Page(HTMLParser):
    """The cells of tables, cards and the verdict of a page, as text, and its data."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.cards, self.verdict, self.shown = [], [], "", {}
        self._into, self._name, self._skip = None, None, 0
        self.feed(page)
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
        self.data = None if found is None else json.loads(found[1])

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
            self._into = "cell"
        elif self._into == "cell":
            self.rows[-1][-1] += " "
        elif tag == "b" and self._into == "card":
            self.cards.append("")
            self._into = "number"
        elif attrs.get("class", "").startswith("card ") or attrs.get("class") == "card":
            self._into = "card"
        elif attrs.get("id") == "verdict":
            self._into = "verdict"
        self._name = attrs.get("data-show")

    def handle_endtag(self, tag):
        if (tag, self._into) in (("td", "cell"), ("th", "cell"), ("b", "number"), ("p", "verdict")):
            self._into = None
        self._name = None

    def handle_data(self, data):
        if self._name:
            self.shown.setdefault(self._name, set()).add(data)
        if self._into == "cell":
            self.rows[-1][-1] += data
        elif self._into == "number":
            self.cards[-1] += data
        elif self._into == "verdict":
            self.verdict += data

    def row(self, name):
        """The cells after the first one of all rows with this name."""
        return [row[1:] for row in self.rows if row and row[0].strip() == name]


def number(text):
    return float(text.replace("−", "-").replace("%", "").strip())


def amount(text, value):
    """Whether a text is this number with four digits."""
    return number(text) == float(f"{value:.4g}")


def share(text, value):
    """Whether a text is this share in percent with one decimal."""
    return abs(number(text) - 100 * value) <= 0.05 + 1e-9


def facts_of(text):
    """Names and values of the two columns that commands print."""
    return dict(found.groups() for found in re.finditer(r"^(\S.*?)  +(\S.*)$", text, re.MULTILINE))


def in_sentence(sentence, name, rejected, cost):
    pattern = r"(.*) is (?:not |worth).*?: it rejects ([\d.]+) % of the rows and costs ([\d.]+) per row"
    found = re.match(pattern, sentence)
    assert found[1] == name
    assert share(found[2], rejected)
    assert amount(found[3], cost)


@pytest.mark.parametrize("command", ["fit", "search", "evaluate"])
def test_the_text_has_the_numbers_of_the_json(made, command):
    text, found = getattr(made, command)
    lines = facts_of(text)
    names = {re.sub(r"[ -]", "_", re.sub(r" \((of|chosen).*", "", name)): name for name in lines}
    compared = 0
    for name, value in found.items():
        shown = names.get(name)
        if isinstance(value, float) and shown is not None:
            assert lines[shown] == f"{value:.4g}", name
            compared += 1
    assert compared >= {"fit": 1, "search": 2, "evaluate": 2}[command]
    assert " ".join(text.split()).find(found["verdict"]["sentence"]) > 0


def test_what_fit_says_of_held_out_rows_is_what_it_counts(made):
    _, found = made.search
    assert f"cost {found['cross_validated_mean_cost']:.4g} each" in found["verdict"]["sentence"]
    assert f"costs {found['verdict']['its_mean_cost']:.4g}." in found["verdict"]["sentence"]
    others = {one["name"]: one["mean_cost"] for one in made.evaluate[1]["verdict"]["alternatives"]}  # the same rows
    assert found["verdict"]["its_mean_cost"] == pytest.approx(others[found["verdict"]["cheapest_alternative"]])


def test_the_page_of_evaluate_has_the_numbers_of_the_command(made):
    _, found = made.evaluate
    page, judged = made.evaluated, found["verdict"]
    assert amount(page.cards[0], found["mean_cost"])
    assert share(page.cards[1], found["reject_rate"])
    if "error_among_the_accepted" in found:
        assert share(page.cards[2], found["error_among_the_accepted"])
    assert judged["sentence"].startswith(page.verdict)
    in_sentence(page.verdict, "The machine", found["reject_rate"], found["mean_cost"])
    for one in judged["alternatives"]:
        assert all(amount(cells[0], one["mean_cost"]) for cells in page.row(one["name"])), one
        assert len(page.row(one["name"])) == 1
    assert min(one["mean_cost"] for one in judged["alternatives"]) == judged["alternatives"][0]["mean_cost"]
    own = {"mean_cost_without_rejecting": "deciding every row without rejects"}
    own |= {"mean_cost_of_rejecting_all": "rejecting every row"}
    for fact, name in own.items():
        if fact in found:
            assert amount(page.row(name)[0][0], found[fact])


def test_the_rows_of_predict_are_those_that_evaluate_counts(made):
    _, found = made.evaluate
    rejected = np.mean([row["rejected"] == "true" for row in made.predicted])
    assert found["reject_rate"] == pytest.approx(rejected)
    counts = {}
    for row in made.predicted:
        counts[row["answer"], row["label"]] = counts.get((row["answer"], row["label"]), 0) + 1
    for truth in {row["answer"] for row in made.predicted}:
        cells = next(cells for cells in made.evaluated.row(truth) if len(cells) > 2)
        shown = [int(re.match(r"\s*(\d+)", cell)[1]) for cell in cells]
        total = [counts[key] for key in counts if key[0] == truth]
        assert sorted(count for count in shown[:-1] if count) == sorted(total)
        assert shown[-1] == sum(total)


def test_predicted_labels_follow_the_thresholds_of_the_page_for_plain_models(made):
    """With --C and --gamma, the score that predict writes is the one with the thresholds of evaluate's page."""
    data = made.evaluated.data
    if data is None:
        assert made.kind != "two classes"
        return
    lower, upper = map(float, data["thresholds"])
    for name, value in (("lower", lower), ("upper", upper)):
        assert all(amount(text, value) for text in made.evaluated.shown[name])
    for row in made.predicted:
        score = float(row["score"])
        assert row["label"] == ("yes" if score > upper else "no" if score < lower else "reject")
    np.testing.assert_array_equal(scores_of(data), np.sort([float(row["score"]) for row in made.predicted]))


def scores_of(data):
    return np.frombuffer(base64.b64decode(data["steps"]["score"]), dtype="<f8")


def recounted(data):
    """The mean cost and the share of rejects of the data in a page."""
    (lower, upper), scores = map(float, data["thresholds"]), scores_of(data)
    above = np.array(data["steps"]["above"], dtype=bool)
    decided = np.where(scores > upper, 1, np.where((scores < lower) | (lower == upper), -1, 0))
    costs = data["costs"]
    wrong = costs["aboveWrong"] * (~above & (decided > 0)) + costs["belowWrong"] * (above & (decided < 0))
    rejects = np.where(above, data["reject"][1], data["reject"][0]) * (decided == 0)
    return np.mean(wrong + rejects), np.mean(decided == 0)


def check_compared(page, found, text):
    """Every number about a rule on the page, in the JSON and in the text of compare."""
    rules, judged = {one["rule"]: one for one in found["rules"]}, found["verdict"]
    rule = rules[judged["sentence"].split(" is ")[0]]
    assert page.verdict == judged["sentence"]
    assert judged["sentence"] in text
    in_sentence(page.verdict, rule["rule"], rule["reject_rate"], rule["mean_cost"])
    assert amount(page.cards[0], rule["mean_cost"])
    assert share(page.cards[1], rule["reject_rate"])
    if "error_among_the_accepted" in rule:
        assert share(page.cards[2], rule["error_among_the_accepted"])
    for name, one in rules.items():
        line = re.search(rf"^{re.escape(name)}  +(\S+)  +(\S+) to (\S+) ", text, re.MULTILINE)
        assert amount(line[1], one["mean_cost"])
        assert [float(end) for end in line.groups()[1:]] == [float(f"{one[end]:.3g}") for end in ("from", "to")]
        for cells in page.row(name):
            assert amount(re.match(r"\s*([\d.e−-]+)", cells[0])[1], one["mean_cost"]), name
            if len(cells) > 1:
                assert share(cells[1], one["reject_rate"])
    costs = {one["name"]: one["mean_cost"] for one in judged["alternatives"]}
    for name, cost in costs.items():
        assert page.row(name)
        assert all(amount(re.match(r"\s*([\d.e−-]+)", cells[0])[1], cost) for cells in page.row(name)), name
    # the cheapest alternative is the cheapest of all on the page besides the rule and others that reject
    others = [one["mean_cost"] for one in found["rules"] if one is not rule]
    assert min(costs.values()) == costs[judged["cheapest_alternative"]]
    assert min(*others, *costs.values()) >= min(rule["mean_cost"], costs[judged["cheapest_alternative"]]) - 1e-12


def test_the_page_of_compare_has_one_number_for_each_rule(made):
    text, found = made.compare
    check_compared(made.compared, found, text)
    if made.compared.data is not None:
        cost, rejected = recounted(made.compared.data)
        assert amount(made.compared.cards[0], cost)
        assert share(made.compared.cards[1], rejected)
    changed = json.loads(json.dumps(found))
    next(one for one in changed["rules"] if found["verdict"]["sentence"].startswith(one["rule"]))["mean_cost"] *= 1.05
    with pytest.raises(AssertionError):  # control
        check_compared(made.compared, changed, text)


def test_thresholds_of_each_fold_give_the_page_of_what_was_decided(tmp_path):
    """No pair of thresholds makes all decisions, so there is no slider, and the numbers are still those compared."""
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"])[np.arange(90) % 2]
    X = rng.normal(size=(90, 2)) + 1.5 * (y == "yes")[:, None]
    costs = Costs(1, 5, 0.3)
    models = {"roc": ThresholdRejector(RejectSVC(C=1), costs, method="roc", pos_label="yes")}
    compared = abstain.compare(models, X, y, costs, pos_label="yes", cv=3)
    known = {"path": tmp_path / "t.csv", "y": y, "X": X, "numeric": ["a", "b"], "categorical": [], "groups": None}
    rows = SimpleNamespace(row_costs=None, rows=X, **known, several=False, positive="yes")
    assert write_comparison(rows, compared.costs, compared, models, tmp_path / "page.html", force=False) == "roc"
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert page.data is None
    assert amount(page.cards[0], compared.mean_cost[0])
    assert page.verdict == compared.verdict.sentence
    counts = compared.tables[0].counts.astype(int).tolist()
    for truth, row in zip(("no", "yes"), counts, strict=True):
        cells = next(cells for cells in page.row(truth) if len(cells) == 4)
        assert [int(re.match(r"\s*(\d+)", cell)[1]) for cell in cells] == [*row, 45]
    one = ThresholdRejector(RejectSVC(C=1), costs, method="roc", pos_label="yes").fit(X, y)  # control: another number
    again = costs.mean_cost(y, one.rule_.predict(compared.answers[0].score), pos_label="yes")
    assert again != pytest.approx(compared.mean_cost[0])
