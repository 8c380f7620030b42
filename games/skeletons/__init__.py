"""Short games, one of each kind, which `retrograde new` copies for users to change.

A file's name is the kind. In the copy the class is named for the user's file.
"""
