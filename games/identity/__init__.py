"""What makes two rule modules the same rules: digests, and the rule files that a person trusts."""
