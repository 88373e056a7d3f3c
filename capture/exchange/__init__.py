"""What leaves the handbook and enters it as one file: bundle, dataset, JSON Schemas."""
