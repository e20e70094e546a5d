"""The leak filter's weights: fitted on labelled hints, and judged on those of an author that the fit has not seen."""
