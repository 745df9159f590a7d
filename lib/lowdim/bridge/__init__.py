"""What Part V alone needs: one network on one clock, and theorems that link the parts."""
