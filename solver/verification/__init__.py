"""Recomputes every stored value from the rules, with loops of its own.

It shares no loop with the solver, so that a bug of the solver cannot hide here. `verify.py` states what is checked and
why that is a proof.

 module                what it holds
 verify.py             the entry point `verify`, the proof, and what the proof rests on
 audit.py              `Audit`: checks all items of a database, interpreted or compiled
 records.py            … of a database of records (positions with outcomes)
 slots.py              … of a database with a numbering (outcomes by slot)
 steps.py, lists.py    … of a database of steps (runs of equal outcomes, no positions)
 kernels.py            the one compiled loop, for all kinds of databases
 storages.py           how that loop looks up a child in each kind
 faults.py             checks one position interpreted, and words the fault
 sample.py             checks a sample of a new database before the file gets its name
 certificates.py       checks a certificate: a strategy that proves the value of one position
 measures/             the same for other metrics than remoteness
"""
