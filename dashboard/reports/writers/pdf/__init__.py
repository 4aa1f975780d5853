"""A report on paper: drawn with lines and text, no browser needed.

`sheet` knows paper, fonts and colours, `scales` turns values into places, `plots` draws
the series of `dashboard.reports.data.series`, `document` puts the pages together.
"""
