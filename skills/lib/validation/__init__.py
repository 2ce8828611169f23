"""The rules over workflows and skills; the only room that knows networkx."""
