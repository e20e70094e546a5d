"""Tools for looking closer at images: plain functions over image bytes, and the registry from which agents offer them."""

from dokimasia.tools.colours import measure_colour
from dokimasia.tools.comparing import compare_regions
from dokimasia.tools.cutting import crop, zoom
from dokimasia.tools.pictures import ToolResult
from dokimasia.tools.reading import read_text
from dokimasia.tools.registry import TOOLS, Tool, available, perform, read_request, select_tools
from dokimasia.tools.shapes import count_shapes

__all__ = [
    "TOOLS",
    "Tool",
    "ToolResult",
    "available",
    "compare_regions",
    "count_shapes",
    "crop",
    "measure_colour",
    "perform",
    "read_request",
    "read_text",
    "select_tools",
    "zoom",
]
