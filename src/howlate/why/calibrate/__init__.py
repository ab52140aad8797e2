"""Whether causes are named rightly: delays of known kind and size (docs/calibrate.md)."""
