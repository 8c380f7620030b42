"""How a game is asked, compiled or interpreted, every answer held against the contract."""
