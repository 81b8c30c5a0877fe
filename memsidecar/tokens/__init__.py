"""What text costs: exact where the vocabulary is known, estimated and calibrated where it is not."""
