"""Prints positions, moves, values and summaries for people, in words, tables and colours."""
