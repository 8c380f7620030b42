"""Values by search, where no table can reach: proofs from the plain rules, in bounded memory and time."""
