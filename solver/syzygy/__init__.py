"""Chess endings written as Syzygy's tables, which engines read: who wins, and distances to zeroing."""
