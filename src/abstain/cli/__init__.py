"""The command line: one file per sub-command, with its options and one plain function that tests call."""
