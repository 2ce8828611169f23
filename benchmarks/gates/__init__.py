"""Whether a gate can be got past: random graphs walked by an adversary, and the honest way out of each state."""
