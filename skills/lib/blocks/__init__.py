"""What is printed: documents, and their rendering."""
