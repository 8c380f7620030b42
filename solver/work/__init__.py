"""How work is run, limited, told and survives; it knows no game."""
