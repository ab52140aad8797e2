"""The settings of a machine that howlate can hold. ONE FILE in this folder = ONE SETTING, named as its knob of the
probe (probe/src/knobs)."""
