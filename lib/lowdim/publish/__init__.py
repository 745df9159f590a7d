"""Everything that turns chapters into runs, records and pages; the mathematics never imports it."""
