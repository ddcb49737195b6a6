"""What the tests of gencoro share: programs, how they are played and compared."""
