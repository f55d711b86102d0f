"""Measuring two builds in turns."""
