"""Solves chess endings set by set: a word is a set of 64 squares, and moves shift whole words."""
