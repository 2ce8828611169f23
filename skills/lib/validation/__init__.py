"""The rules over workflows and skills, by searches of networkx."""
