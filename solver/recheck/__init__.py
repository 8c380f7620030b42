"""Every stored measure derived again from the rules, with loops of its own."""
