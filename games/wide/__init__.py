"""Larger variants of games whose positions are one int: the same rules, with positions of two words.

The catalogue looks here if a game refuses options: for a module of the same name. So the rules of the smaller variants,
and their databases, stay as they are.
"""
