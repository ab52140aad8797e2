"""The room of the five published studies: what their documents print, what the audit finds in it, how it
compares with a run's cells, and the studies' own formats. Nothing imports it; howlate finds it as a room
(howlate/rooms.py)."""
