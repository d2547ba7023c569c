"""Comparison of rules on your data: mean costs with intervals, and paired differences."""
