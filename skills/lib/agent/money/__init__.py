"""What sessions cost, and the budgets that hold them."""
