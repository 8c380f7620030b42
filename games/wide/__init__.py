"""Larger variants of games whose positions are one int, with positions of several words.

The catalogue looks here if a game refuses options, or needs one and gets none: for a module of the same name. So the
rules of the smaller variants, and their databases, stay as they are.
"""
