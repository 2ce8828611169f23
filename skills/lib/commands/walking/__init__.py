"""A person plays the agent: blocks drawn for reading, values asked for one by one."""
