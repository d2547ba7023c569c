"""What a command reads: tables, costs and models."""
