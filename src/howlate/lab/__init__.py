"""The lab: available kernels, the guests made from them, and the results of these guests (docs/lab/)."""
