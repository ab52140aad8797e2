"""howlate: how late can your Linux be?"""

__version__ = "0.1.0"
