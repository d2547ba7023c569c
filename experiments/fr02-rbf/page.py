"""The page and the picture of fr02-rbf."""

from __future__ import annotations

from typing import Any

from harness.numbers import signed, with_error
from harness.pages import run_it, share, table

NAMES = {
    "embedded": "EmbeddedRejectSVC",
    "double hinge": "RejectSVC",
    "external threshold": "SVC, external threshold",
}
COLOURS = {
    "embedded": ("#D55E00", "s"),
    "double hinge": ("#0072B2", "o"),
    "external threshold": ("#009E73", "^"),
}
STEEP = 2.0  # standard errors for a difference to count


def page(results: dict[str, Any]) -> str:
    """README.md."""
    parts = [_opening(results), _protocol(results), _results(results), _reading(results), run_it(results)]
    return "\n\n".join(parts) + "\n"


def _opening(results: dict[str, Any]) -> str:
    return f"""# FR02's machine with an rbf kernel, compared with two others

Fumera & Roli ("Support Vector Machines with Embedded Reject Option", SVM 2002) train only linear machines and leave
kernels to future work. Here their machine gets an rbf kernel, through the eigenvectors of the kernel matrix, on the
letters {results["pair"][0]} and {results["pair"][1]}. It is compared with the double hinge and with an SVM whose reject
threshold is chosen after training. No published number exists for comparison."""


def _protocol(results: dict[str, Any]) -> str:
    grid = results["grid"]
    return f"""## Protocol

- {results["splits"]} random halves of the pair's rows for training, the others for testing; raw features, 0 to
  15.
- C in {", ".join(f"{C:g}" for C in grid["C"])} and gamma in {", ".join(f"{gamma:g}" for gamma in grid["gamma"])},
  chosen for each machine, split and reject cost by its own cross-validated risk w_R R + E on the training half.
- The external threshold D minimises the risk on the training half, as in FR02.
- ± is the standard error over the splits. The halves share rows, so it is only a rough guide."""


def _results(results: dict[str, Any]) -> str:
    rows = [
        [
            f"{cost:g}",
            NAMES[name],
            with_error(found["risk"], 4),
            share(found["reject_rate"]["mean"]),
            share(found["error_rate"]["mean"], digits=2),
            with_error(found["training_risk"], 4),
            "" if name == "embedded" else _difference(found["embedded_less"]),
        ]
        for cost in results["costs"]
        for name, found in results["means"][f"{cost:g}"].items()
    ]
    head = ["w_R", "machine", "test risk", "rejects", "errors", "training risk", "embedded minus this"]
    return f"## Results\n\n{table(head, rows)}\n\n![Test risk of the three machines at each reject cost](risk.png)"


def _difference(less: dict[str, float]) -> str:
    return f"{signed(less['mean'], 4)} ± {less['standard_error']:.4f}"


def _verdict(less: dict[str, float]) -> str:
    if abs(less["mean"]) <= STEEP * less["standard_error"]:
        return "no difference"
    return "the embedded machine is better" if less["mean"] < 0 else "the embedded machine is worse"


def _reading(results: dict[str, Any]) -> str:
    rows = [
        [f"{cost:g}", *(_verdict(results["means"][f"{cost:g}"][name]["embedded_less"]) for name in list(NAMES)[1:])]
        for cost in results["costs"]
    ]
    head = ["w_R", *(f"against {NAMES[name]}" for name in list(NAMES)[1:])]
    return f"""## Which is better

A difference counts if it is at least {STEEP:g} standard errors.

{table(head, rows)}"""


def risk_figure(results: dict[str, Any]) -> Any:
    """Mean test risk with its standard error, by reject cost."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    for k, (name, (colour, marker)) in enumerate(COLOURS.items()):
        found = [results["means"][f"{cost:g}"][name]["risk"] for cost in results["costs"]]
        x = [position + 0.12 * (k - 1) for position in range(len(found))]
        mean, error = [item["mean"] for item in found], [item["standard_error"] for item in found]
        ax.errorbar(x, mean, yerr=error, color=colour, marker=marker, linestyle="none", capsize=3, label=NAMES[name])
    ax.set_xticks(range(len(results["costs"])), [f"{cost:g}" for cost in results["costs"]])
    ax.set(xlabel="reject cost w_R", ylabel="test risk w_R R + E", ylim=(0, None))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left")
    return figure
