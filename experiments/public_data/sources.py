"""The source of each data set: its file in the data folder, its public address, its citation."""

from __future__ import annotations

from dataclasses import dataclass

from public_data.table import TextLayout

__all__ = ["SOURCES", "Source"]

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
FOLDER_LAYOUT = TextLayout(header=True)  # of every text file in the data folder except one
CC_BY = "CC BY 4.0 (as the UCI Machine Learning Repository states for its sets)"
ODC_BY = "Open Data Commons Attribution License v1.0"
MITDB = "https://physionet.org/files/mitdb/1.0.0"
MOODY = (
    "G. B. Moody and R. G. Mark, The impact of the MIT-BIH Arrhythmia Database, IEEE Engineering in Medicine and "
    "Biology 20(3) (2001) 45-50; A. L. Goldberger et al., PhysioBank, PhysioToolkit, and PhysioNet, Circulation "
    "101(23) (2000) e215-e220."
)
HOFMANN = "H. Hofmann, Statlog (German Credit Data), UCI Machine Learning Repository (1994)."


@dataclass(frozen=True)
class Source:
    """Addresses and provenance of one data set.

    Attributes
    ----------
    name : str
        Name, also used in the table of checksums.
    file : str
        File in the data folder.
    url : str
        The public file, or the page of the data set if several files or none are read.
    title, citation, licence, description : str
        Title, citation, licence, and notes on its use.
    most_mb : int
        Size in MB above which a file, unpacked, is refused before it is parsed; at least twice its real size.
    layout : TextLayout or None
        Layout of the public file, if it is one text file.
    file_layout : TextLayout or None
        Layout of the file in the folder, if it is a text file.
    """

    name: str
    file: str
    url: str
    title: str
    citation: str
    licence: str
    description: str
    most_mb: int = 1
    layout: TextLayout | None = None
    file_layout: TextLayout | None = FOLDER_LAYOUT


def letter_or_number(text: str) -> float:
    """Read a number, or a capital letter as its position in the alphabet."""
    return float(ord(text) - 64) if len(text) == 1 and text.isalpha() else float(text)


def code_or_number(text: str) -> float:
    """Read a number, or a code such as A121 as 121."""
    return float(text.removeprefix("A"))


_ALL = (
    Source(
        name="letter",
        file="letter.csv.gz",
        url=f"{UCI}/letter-recognition/letter-recognition.data",
        title="Letter Recognition",
        citation="P. W. Frey and D. J. Slate, Letter recognition using Holland-style adaptive classifiers, "
        "Machine Learning 6 (1991) 161-182.",
        licence=CC_BY,
        description="16 integer features (0 to 15) of distorted capital letters in 20 fonts. The usual split uses the "
        "first 16000 rows for training and the last 4000 for testing.",
        most_mb=2,
        layout=TextLayout(class_first=True, number=letter_or_number),
    ),
    Source(
        name="wdbc",
        file="wdbc.csv.gz",
        url=f"{UCI}/breast-cancer-wisconsin/wdbc.data",
        title="Breast Cancer Wisconsin (Diagnostic)",
        citation="W. N. Street, W. H. Wolberg and O. L. Mangasarian, Nuclear feature extraction for breast tumor "
        "diagnosis, IS&T/SPIE Symposium on Electronic Imaging 1905 (1993) 861-870.",
        licence=CC_BY,
        description="Mean, standard error and worst value of ten features of cell nuclei. Malignant is the positive "
        "class, 1; scikit-learn's load_breast_cancer codes it 0.",
    ),
    Source(
        name="pima",
        file="pima.csv",
        url="https://raw.githubusercontent.com/jbrownlee/Datasets/master/pima-indians-diabetes.data.csv",
        title="Pima Indians Diabetes",
        citation="J. W. Smith, J. E. Everhart, W. C. Dickson, W. C. Knowler and R. S. Johannes, Using the ADAP "
        "learning algorithm to forecast the onset of diabetes mellitus, Symposium on Computer Applications in Medical "
        "Care (1988) 261-265.",
        licence="CC0 (withdrawn from the UCI repository; it circulates as public domain)",
        description="Zeros in glucose, pressure, triceps, insulin and mass are missing values.",
        layout=TextLayout(),
    ),
    Source(
        name="liver",
        file="liver_bupa.csv",
        url=f"{UCI}/liver-disorders/bupa.data",
        title="Liver Disorders (BUPA)",
        citation="R. S. Forsyth, BUPA Medical Research Ltd. (1990).",
        licence=CC_BY,
        description="Five blood tests and the number of drinks; the class is `selector`, as in most of the "
        "literature. Caution: `selector` was meant to mark training and test rows, not a diagnosis (J. McDermott and "
        "R. S. Forsyth, Pattern Recognition Letters 73 (2016) 41-43).",
        layout=TextLayout(),
    ),
    Source(
        name="thyroid",
        file="thyroid_new.csv",
        url=f"{UCI}/thyroid-disease/new-thyroid.data",
        title="Thyroid Disease (new-thyroid)",
        citation="D. Coomans, I. Broeckaert, M. Jonckheer and D. L. Massart, Comparison of multivariate discrimination "
        "techniques for clinical data: application to the thyroid functional state, Methods of Information in Medicine "
        "22 (1983) 93-101.",
        licence=CC_BY,
        description="Five laboratory tests. Normal against the two disorders is the `thyroid` of the IDA benchmark.",
        layout=TextLayout(class_first=True),
    ),
    Source(
        name="german",
        file="german.csv.gz",
        url=f"{UCI}/statlog/german/german.data",
        title="Statlog German Credit, symbolic version",
        citation=HOFMANN,
        licence=CC_BY,
        description="The codes A11 ... are explained in UCI's german.doc.",
        layout=TextLayout(delimiter=None, number=code_or_number),
        file_layout=TextLayout(header=True, number=code_or_number),
    ),
    Source(
        name="german_numeric",
        file="german_numeric.csv.gz",
        url=f"{UCI}/statlog/german/german.data-numeric",
        title="Statlog German Credit, numeric version",
        citation=HOFMANN,
        licence=CC_BY,
        description="The official numeric version (Strathclyde University); its columns have no names.",
        layout=TextLayout(delimiter=None),
    ),
    Source(
        name="heart",
        file="heart_statlog.csv",
        url=f"{UCI}/statlog/heart/heart.dat",
        title="Statlog Heart",
        citation="Statlog (Heart), UCI Machine Learning Repository; 270 rows of the Cleveland data of R. Detrano et "
        "al., American Journal of Cardiology 64 (1989) 304-310.",
        licence=CC_BY,
        description="Presence of heart disease from 13 clinical attributes.",
        layout=TextLayout(delimiter=None),
    ),
    Source(
        name="covtype",
        file="covtype_full.npz",
        url=f"{UCI}/covtype/covtype.data.gz",
        title="Forest Covertype",
        citation="J. A. Blackard and D. J. Dean, Comparative accuracies of artificial neural networks and discriminant "
        "analysis in predicting forest cover types from cartographic variables, Computers and Electronics in "
        "Agriculture 24 (2000) 131-151.",
        licence="Copyright Jock A. Blackard and Colorado State University; reuse is unlimited with retention of this "
        "notice.",
        description="Ten cartographic measurements, four wilderness areas and forty soil types (0 or 1).",
        most_mb=160,
        layout=TextLayout(),
        file_layout=None,
    ),
    Source(
        name="mitbih_beats",
        file="mitbih/beats.npz",
        url=MITDB,
        title="MIT-BIH Arrhythmia, beats",
        citation=MOODY,
        licence=ODC_BY,
        description="Windows of lead MLII at 360 Hz, 90 samples before the annotated R point to 109 after it, in mV, "
        "of the N, L, R and V beats of the 21 records without a pacemaker that have at least 40 V beats. Beats of one "
        "record come from one patient: split by `groups`, not by beat, for a fair test.",
        most_mb=64,
        file_layout=None,
    ),
    Source(
        name="mitbih_features",
        file="mitbih/features.csv.gz",
        url=MITDB,
        title="MIT-BIH Arrhythmia, features of beats",
        citation=MOODY,
        licence=ODC_BY,
        description="RR intervals (s) and morphology (mV) of the N, L, R and V beats of 21 records, derived for this "
        "library and not published elsewhere. Beats of one record come from one patient: split by `groups`, not by "
        "beat, for a fair test.",
        most_mb=16,
    ),
    Source(
        name="pbmc68k",
        file="pbmc68k_reduced.npz",
        url="https://scanpy.readthedocs.io/en/stable/generated/scanpy.datasets.pbmc68k_reduced.html",
        title="PBMC 68k, reduced",
        citation="G. X. Y. Zheng et al., Massively parallel digital transcriptional profiling of single cells, Nature "
        "Communications 8 (2017) 14049.",
        licence="BSD-3-Clause (scanpy, which contains this part of the data of 10x Genomics)",
        description="Log-normalised expression of 765 genes in 700 blood cells, as in scanpy's pbmc68k_reduced().raw. "
        "The types (bulk_labels) are those of the sorted cells with the most similar expression.",
        most_mb=16,
        file_layout=None,
    ),
)
SOURCES = {source.name: source for source in _ALL}
