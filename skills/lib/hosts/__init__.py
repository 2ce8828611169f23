"""Agent hosts: where their skills and hooks go, what their tools are called, and the hook that holds the line there."""
