"""Tables as users have them: CSV, Parquet and workbooks, their encodings and notations."""
