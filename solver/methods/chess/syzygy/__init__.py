"""Writes chess endings as Syzygy tables, which chess engines read.

The format is R. de Man's. A table has a value for each position, in an order of its own, compressed: who wins
(`.rtbw`), or the distance to zeroing (`.rtbz`). The order is that of a number with a digit for each group of men::

    KRvKN, one of its orders      digit 1: the squares of K, R and K (no two symmetric)      digit 2: the square of N
    number                        digit 1 + 31,332 × digit 2
    values, in this order         4 4 4 2 4 4 …      4 won, 2 drawn, 0 lost; many neighbours are equal
    compressed                    pairs of symbols become symbols, then a Huffman code

Where readers make captures themselves, or never look, a table may have any value: whichever compresses best.

The steps of `write.write_tables`, for each side to move:

1. `cells`: read the values from a database by distance to zeroing, as cells. Try the orders of `table_order` on
   samples, and put the cells in the one that compresses best.
2. `compression`: compress the values.
3. `write`: write the files; `checksum` adds their last 16 bytes.
"""
