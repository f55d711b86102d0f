"""One run on many machines: its shards, and making one run of them again."""
