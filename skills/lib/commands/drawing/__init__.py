"""Graphs of workflows as Mermaid, DOT, SVG, and lines in a terminal."""
