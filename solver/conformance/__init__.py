"""Whether rules keep the contract."""
