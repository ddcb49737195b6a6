"""The other ends of HTTP: servers that keep the rules, and some that break them."""
