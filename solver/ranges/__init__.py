"""A tier's slots in ranges: what is known of each lies in files, and one task at a time says what becomes of it."""
