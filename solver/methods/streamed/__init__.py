"""Solves large acyclic games out of core, tier by tier, as sorted lists on disk."""
