"""The kernel machines: RejectSVC, RejectSVCCV, OneClassSVM, paths and sweeps."""
