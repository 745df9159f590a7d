"""The four papers' measurements on any network of torch: measure, record, report."""
