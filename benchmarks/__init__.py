"""What README's figures come from: each module measures one thing and gives back tables."""
