"""Margin losses: convex, piecewise linear, one per class; a loss is data, its knots and slopes."""
