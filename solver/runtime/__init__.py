"""Executors, memory budget, journal, spill files, progress and compiled code. It knows no game."""
