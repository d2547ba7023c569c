"""All rules on one's own data: mean costs with intervals, and what of their order is more than noise."""
