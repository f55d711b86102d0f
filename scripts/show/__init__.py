"""What a person sees before, during and after a run."""
