"""What is installed for a host: skills, role definitions, hooks, and the runtime that they share."""
