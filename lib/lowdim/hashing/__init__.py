"""What Part IV alone needs: kernels of random layers, minimizers, distances, complexities."""
