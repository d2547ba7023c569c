"""ThresholdRejector: any classifier made to reject."""
