"""What the tests of the converter share: programs as data, and a player for them."""
