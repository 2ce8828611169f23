"""The MCP server: skills as resources, runs as tools.

The server's process speaks the protocol and reads files. Each tool call is served by a process of its own (``runner``),
which loads the skill, moves the run and ends: so a changed skill and another process's commit are seen, a skill that
breaks, prints or hangs harms one call only, and a call that is given up is stopped with all that it started.
"""
