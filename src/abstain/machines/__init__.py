"""Machines: values that score rows. A `Rule` turns the scores into decisions."""
