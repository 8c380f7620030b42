"""Checks that a rule module keeps the contract.

`check.check` is the full check behind `retrograde check`; `check.precheck` is the short one before each solve. Both
visit some positions (`survey.py`), then compare rules that must agree. `games/contract/game.py` is the contract.
"""
