"""``python -m abstain``: the command line."""

from abstain.cli.entry_point import main

if __name__ == "__main__":
    main()
