"""Pure builders of Plotly figures: plain values in, a JSON document out.

Colours are names of the pages' CSS properties (`--line-lag`); the script that draws a
figure puts the values of the present theme in their place. Times are ISO 8601 without
zone, already in the reader's zone, because Plotly draws what it is given.
"""
