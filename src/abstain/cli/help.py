"""The help of a command in sections, the essential options first; errors of options in one sentence."""

from __future__ import annotations

import re
import sys
from typing import Any

from typer.core import TyperCommand, TyperGroup

from abstain.cli.exit_codes import one_line
from abstain.cli.options import HEADINGS, SECTIONS

_PLAINLY = {  # the words of the parsers of options
    r"Input should be a valid number.*|'.*' is not a valid float.*": "must be a number with a decimal point, as in 2.5",
    r"Input should be a valid integer.*|'.*' is not a valid integer.*": "must be a whole number, as in 20",
    r"(?:Input should be greater than or equal to |\S+ is not in the range x>=)([\d.]*\d)\.?": r"must be \1 or more",
    r"(?:Input should be less than or equal to |\S+ is not in the range x<=)([\d.]*\d)\.?": r"must be \1 or less",
    r"\S+ is not in the range ([\d.]*\d)<=x<=([\d.]*\d)\.?": r"must be from \1 to \2",
    r"path '(.*,.*)' does not exist\.?": r"path '\1' does not exist; name several files by repeating the option",
}


class Commands(TyperGroup):
    """The commands; what is wrong with an option is said in one sentence, with the way to the help."""

    def main(self, *args: Any, **given: Any) -> Any:
        """Run a command."""
        try:
            code = super().main(*args, **given | {"standalone_mode": False})
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
            text = error.format_message()
            for words, plainly in _PLAINLY.items():
                text = re.sub(words, plainly, text)
            text = re.sub(r"^Invalid value for '(--[\w-]+)[^']*':(?= must)", r"\1", text)
            path = getattr(getattr(error, "ctx", None), "command_path", "abstain")
            if type(error).__name__ != "NoArgsIsHelpError":  # whose text is the help
                text = f"abstain: {one_line(text).rstrip('.')}; see '{path} --help'.".replace("?;", "? Or")
            sys.stderr.write(f"{text}\n")
            code = getattr(error, "exit_code", 2)
        if given.get("standalone_mode", True):
            sys.exit(code if isinstance(code, int) else 0)
        return code


class Sectioned(TyperCommand):
    """A command whose help has the headings of `SECTIONS`."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each heading with its options; the option for help, which the table does not have, comes last."""
        sections: dict[str, list[tuple[str, str]]] = {heading: [] for heading in SECTIONS}
        trains = any(parameter.name == "machine" for parameter in self.params)
        for parameter in self.get_params(ctx):
            name, text = parameter.get_help_record(ctx) or ("", "")
            shown = parameter.metavar if parameter.param_type_name == "argument" else name
            heading = HEADINGS.get(str(parameter.name), "Output")
            of_training = heading in ("Limits on rejects and errors", "Machine and search")
            sections["Options" if of_training and not trains else heading].append((str(shown), text))
        for heading, lines in sections.items():
            if lines:
                with formatter.section(heading):
                    formatter.write_dl(lines)
