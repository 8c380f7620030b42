"""Checks that a rule module keeps the contract, which `games/contract/game.py` describes.

`check.check` is the full check behind `retrograde check`; `check.precheck` is the short one before each solve. Both
visit some positions (`survey.py`), then compare rules that must agree. The table in `check.py` lists all checks.
"""
