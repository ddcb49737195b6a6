"""Text for people: `escaping` of untrusted text, `formatting` of numbers, times and URLs."""
