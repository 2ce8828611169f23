"""What every subcommand shares: the group, its options, the screen, and the exit codes."""
