"""What Part II alone needs: linear models, decay by layer, gradients, stationary points."""
