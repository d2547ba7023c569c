"""How sentences write the numbers and dates of a table: as the table does."""

from dataclasses import dataclass

import numpy as np

EPOCH, FURTHEST = np.datetime64(0, "D"), (-719_162, 1e6)  # days: years of one to four digits


@dataclass(frozen=True)
class Written:
    """The decimal mark, and the form of dates as `strftime` takes it."""

    decimal: str = "."
    date: str = "%Y-%m-%d"

    def number(self, text: str) -> str:
        """A number whose text has a point."""
        return text.replace(".", self.decimal)

    def six_digits(self, number: float) -> str:
        """A number in six digits."""
        return self.number(f"{number:.6g}")

    def day(self, days: float) -> str:
        """The date of so many days since 1970-01-01."""
        if not FURTHEST[0] <= days < FURTHEST[1]:
            return self.six_digits(days)
        return (EPOCH + np.timedelta64(int(days // 1), "D")).item().strftime(self.date)


PLAIN = Written()
