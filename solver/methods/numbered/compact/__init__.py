"""Makes compact databases, which leave out one side to move, and derives what was left out.

A position's outcome follows from its children. So a compact file keeps only some parts of each tier:

    tier      | part 0: White to move | part 1: Black to move |
    file      | kept, compressed      | left out              |    outcome of part 1: the best that its children pass up

- `write.py`: choose the parts to leave out, write the file, compare it with the full database.
- `derive.py`: derive outcomes that are left out, many at once.
"""
