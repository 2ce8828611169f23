"""Agent hosts: what is known of each, the hook that they call, what is installed for them, the doctor, and MCP."""
