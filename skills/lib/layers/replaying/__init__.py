"""What an agent did and said in a recorded session, counted, and two sessions of one task compared."""
