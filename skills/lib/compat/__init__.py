"""What older scripts import."""
