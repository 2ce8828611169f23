"""The laziest agents that keep to the form: the least that each block lets pass, children lost, everything skipped."""
