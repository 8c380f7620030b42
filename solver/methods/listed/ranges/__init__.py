"""Solves a tier in ranges of slots, so that several machines share the work and the memory."""
