"""Solves positions kept as sorted lists, in memory or on disk, games with cycles included."""
