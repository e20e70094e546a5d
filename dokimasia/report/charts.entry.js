// The part of Plotly that a page's charts need; `make charts` makes plotly.js of it.
const Plotly = require("plotly.js/lib/core"); // with scatter
Plotly.register([
  require("plotly.js/lib/bar"),
  require("plotly.js/lib/heatmap"),
  require("plotly.js/lib/scatterpolar"),
  require("plotly.js/lib/treemap"),
  require("plotly.js/lib/violin"),
]);
module.exports = Plotly;
