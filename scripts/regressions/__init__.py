"""The verbs that ask whether something got slower: compare, ab, check, history."""
