"""Output of the commands: text, files and reports."""
