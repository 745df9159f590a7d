"""What a chapter shows and how it is judged: claims, attacks, ladders, verdicts, tables, plots."""
