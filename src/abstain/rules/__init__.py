"""From scores to decisions: how thresholds are placed, and what they guarantee."""
