"""Graphs of workflows as SVG, Mermaid, DOT, and lines in a terminal."""
