"""Input of the commands: tables, costs and models."""
