"""Tables as leaves: what databases of smaller games of a family know, asked by searches as if it were an end."""
