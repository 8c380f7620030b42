"""Solves games that number their positions: every slot of every tier."""
