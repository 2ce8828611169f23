"""A person plays the agent: each block is drawn, and each value is asked for."""
