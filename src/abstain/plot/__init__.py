"""Plots. A display stores arrays and draws them with `plot`.

Curves: `AccuracyRejectDisplay`, `ErrorRejectDisplay`, `RiskCoverageDisplay`, `CostCurveDisplay`. To draw several models
in one plot, pass the axes of the first to the next, as in ``ax=display.ax_``. Machines: `LossDisplay`,
`RejectRegionDisplay` for two features, and `PathDisplay` for all C at once. Batches: `DriftDisplay`.
"""

from abstain.public_names import on_first_use

__all__, __getattr__, __dir__ = on_first_use(
    globals(),
    {
        "curves": "AccuracyRejectDisplay CostCurveDisplay ErrorRejectDisplay RiskCoverageDisplay",
        "drift": "DriftDisplay",
        "loss": "LossDisplay",
        "path": "PathDisplay",
        "reject_region": "RejectRegionDisplay",
    },
)
