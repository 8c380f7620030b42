"""All positions that play can reach, found wave by wave: sorted lists, tier by tier, in memory or in scratch."""
