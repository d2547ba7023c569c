"""The command line: `main` declares the sub-commands, and each is run by a file in `commands/`."""
