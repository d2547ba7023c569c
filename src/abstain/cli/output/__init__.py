"""What a command writes: text, files and reports."""
