"""The table of all options, and one file per sub-command with what it does."""
