"""What the figures in README and docs/benchmarks.md come from: each module measures one thing and gives back tables."""
