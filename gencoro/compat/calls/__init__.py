"""Support for legacy calls: ``callback=``, ``io_loop=``, and streams."""
