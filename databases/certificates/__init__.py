"""Certificates: a reply to every move, which together prove a value.

    write.py       `SolvedCertificate` -> datasets `replies`, `blocks`
    read.py        blocks -> positions, numbers of replies, bounds; needs no rules
    database.py    position -> the move to play, and what it guarantees

FORMAT.md says what a certificate claims, and why that is proved.
"""
