"""Text for people: `escaping`, `formatting` of numbers, times and URLs, `suggesting` words."""
