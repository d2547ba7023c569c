"""One file per sub-command: its options, then one plain function that tests call."""
