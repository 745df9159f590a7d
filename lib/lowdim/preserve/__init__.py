"""What Part I alone needs: the quantities of one layer, steps and drifts through several."""
