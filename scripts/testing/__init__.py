"""The programs behind scripts/check and scripts/test."""
