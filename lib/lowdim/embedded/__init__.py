"""What Part III alone needs: flows of linear networks, noise, behaviour off the data."""
