"""Chat models of all providers: chosen, asked again, and their answers made sound."""
