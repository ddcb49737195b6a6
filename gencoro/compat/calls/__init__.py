"""How calls in the legacy style are served: ``callback=``, ``io_loop=``, and streams."""
