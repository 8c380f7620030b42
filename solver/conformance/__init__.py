"""Checks that a rule module keeps the contract.

`check.check` is the full check behind `retrograde check`; `check.precheck` is the short one before each solve.
Both survey some positions first (`survey.py`) and then compare rules that must agree: a method and its inverse, a
position and its images, interpreted and compiled. The page in `check.py` lists all checks with their modules. The
contract itself is in `games/contract/game.py`.
"""
