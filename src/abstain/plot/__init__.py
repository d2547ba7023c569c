"""Pictures: one Display per file. A display stores arrays, and draws them when asked."""

from abstain.plot.reject_region import RejectRegionDisplay

__all__ = ["RejectRegionDisplay"]
