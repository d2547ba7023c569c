"""Review of rejected rows by people: which rows they see, codes of these rows, the workbook, and what verdicts say."""
