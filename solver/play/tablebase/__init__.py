"""Probes a folder of chess databases and picks the ending that fits the board.

files      finds and opens databases
probing    the Python interface, `open_tablebase`
category   the result of a position under the fifty-move rule
"""
