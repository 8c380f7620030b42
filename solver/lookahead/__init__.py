"""Search to a depth, for play where nothing is proved: by estimates, never to be taken for a proof."""
