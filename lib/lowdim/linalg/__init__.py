"""Linear algebra with a leading axis of instances: row spaces, projectors, clusters, ranks."""
