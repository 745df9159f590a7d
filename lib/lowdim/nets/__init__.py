"""The few architectures that the papers use, T trials at a time, and one way to train them."""
