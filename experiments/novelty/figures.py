"""The pictures: what each detector finds, and false alarms beside the stated rate."""

from __future__ import annotations

from typing import Any

MARKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#8C8C8C", "D"), ("#CC79A7", "v"))


def found(results: dict[str, Any]) -> Any:
    """For each kind of damage, the share of rows that each detector rejects, mean over the sets."""
    import matplotlib.pyplot as plt

    from abstain.plot.palette import quiet

    kinds = results["damage"]["kinds"]
    figure, ax = plt.subplots(figsize=(5.2, 5.2), layout="constrained")
    for at, detector in enumerate(next(iter(kinds.values()))["all"]["novel"]):
        colour, marker = MARKS[at]
        shares = [100 * item["all"]["novel"][detector] for item in kinds.values()]
        heights = [-k + 0.16 * (2 - at) for k in range(len(kinds))]  # so that no point hides another
        ax.plot(shares, heights, marker, color=colour, markersize=5.5, label=detector)
    ax.set_yticks([-k for k in range(len(kinds))], list(kinds))
    ax.set_xlim(-3, 103)
    ax.set_xlabel("rejected as novel, %")
    figure.legend(frameon=False, loc="outside lower center", ncols=2, fontsize="small")
    quiet(ax)
    return figure


def alarms(results: dict[str, Any]) -> Any:
    """For each set and rate, the share of ordinary rows rejected by the guard and by the wrong one."""
    import matplotlib.pyplot as plt

    from abstain.plot.palette import quiet

    rates = results["rates"]
    names = list(results["sets"])
    figure, axes = plt.subplots(1, len(rates), figsize=(5.6, 4.0), layout="constrained", sharey=True)
    for ax, rate in zip(axes, rates, strict=True):
        ax.axvline(100 * rate, color="#333333", linewidth=1, linestyle="--")
        for item in results["promise"]:
            if item["rate"] == rate:
                for guard, (colour, marker) in zip(("guard", "wrong"), MARKS, strict=False):
                    y, one = -names.index(item["set"]), item[guard]
                    ax.plot([100 * max(0.0, one["low"]), 100 * one["high"]], [y, y], color=colour, linewidth=1.5)
                    ax.plot(100 * one["mean"], y, marker, color=colour, markersize=5)
        ax.set_title(f"stated rate {100 * rate:g} %", fontsize="medium")
        ax.set_xlim(0, None)
        quiet(ax)
    axes[0].set_yticks([-k for k in range(len(names))], names)
    for (colour, marker), words in zip(MARKS, ("the guard", "wrong guard"), strict=False):
        axes[0].plot([], [], marker, color=colour, label=words)
    axes[0].plot([], [], "--", color="#333333", linewidth=1, label="stated rate")
    figure.supxlabel("ordinary rows rejected as novel, %", fontsize="medium")
    figure.legend(frameon=False, fontsize="small", loc="outside upper center", ncols=3)
    return figure


FIGURES = {"found.png": found, "alarms.png": alarms}
