"""A report on paper, drawn with lines and text; no browser is needed.

`sheet` knows paper, fonts and colours, `scales` turns values into positions, `plots`
draws the series of `dashboard.reports.data.series`, `document` puts the pages together.
"""
