"""Writes chess endings as Syzygy tables, which chess engines read.

Steps:

    cells         reads the values of an ending from a database by distance to zeroing
    table_order   the orders of positions that a table may have
    cell_sorter   picks the order that compresses best, and puts the cells in it
    compression   compresses the values
    write         writes the files; `checksum` adds their last 16 bytes
"""
