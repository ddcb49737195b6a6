"""Text for people: escaping what servers sent, and formatting numbers, times and URLs."""
