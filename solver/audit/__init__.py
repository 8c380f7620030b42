"""Every stored value derived again from the rules, with loops of its own."""
