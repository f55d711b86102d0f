"""The files of configs/, read strictly into typed objects."""
