"""The help of a command in sections: the essential options first, the others by what they are about."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from abstain.cli.options import HEADINGS, SECTIONS


class Sectioned(TyperCommand):
    """A command whose help has the headings of `SECTIONS`."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each heading with its options; the option for help, which the table does not have, comes last."""
        sections: dict[str, list[tuple[str, str]]] = {heading: [] for heading in SECTIONS}
        for parameter in self.get_params(ctx):
            name, text = parameter.get_help_record(ctx) or ("", "")
            shown = parameter.metavar if parameter.param_type_name == "argument" else name
            sections[HEADINGS.get(str(parameter.name), "Output")].append((str(shown), text))
        for heading, lines in sections.items():
            if lines:
                with formatter.section(heading):
                    formatter.write_dl(lines)
