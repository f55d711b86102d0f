"""Carrying out a plan: prepare, measure, audit, store."""
