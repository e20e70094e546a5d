"""Small faults in Python source: where one can be put, and the source with it."""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}

Fault = Callable[[], None]
"""Changes the node that it was made for."""


@dataclass(frozen=True)
class Mutant:
    """One fault: its file, its line, and the number of the fault within the file."""

    path: Path
    line: int
    number: int
    change: str

    def tree(self) -> ast.Module:
        """Return the syntax tree of the file with the fault in it."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        for number, (_, fault) in enumerate(_faults(tree)):
            if number == self.number:
                fault()
                return ast.fix_missing_locations(tree)
        raise ValueError(f"{self.path.name} has no fault {self.number}")


def mutants_of(path: Path) -> list[Mutant]:
    """Return every mutant of a file, in the order of its lines."""
    made: list[Mutant] = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for number, (node, fault) in enumerate(_faults(tree)):
        before = copy.deepcopy(node)
        fault()
        made.append(Mutant(path, node.lineno, number, f"{ast.unparse(before)}  ->  {ast.unparse(node)}"))
        node.__dict__.clear()
        node.__dict__.update(before.__dict__)
    return made


def _faults(tree: ast.Module) -> Iterator[tuple[ast.expr, Fault]]:
    """Yield each place where a fault can be put; docstrings, types and other texts are left alone."""
    for node in _computing(tree):
        if isinstance(node, ast.Compare):
            for position, operator in enumerate(node.ops):
                yield node, _replace(node.ops, position, COMPARISONS[type(operator)]())
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            yield node, _set(node, "op", OPERATORS[type(node.op)]())
        elif isinstance(node, ast.BoolOp):
            yield node, _set(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield node, _set(node, "op", ast.UAdd())
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, _set(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
        elif isinstance(node, ast.IfExp):
            yield node, _swap(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, _set(node, "value", not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield node, _set(node, "value", node.value + 1)
        elif isinstance(node, ast.Name) and node.id in NAMES:
            yield node, _set(node, "id", NAMES[node.id])


def _computing(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that compute something, in the order of the source."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.expr):
                yield child
            if isinstance(child, ast.AST):
                yield from _computing(child)


def _set(node: ast.expr, name: str, value: object) -> Fault:
    return lambda: setattr(node, name, value)


def _replace(operators: list[ast.cmpop], position: int, operator: ast.cmpop) -> Fault:
    def change() -> None:
        operators[position] = operator

    return change


def _swap(node: ast.IfExp) -> Fault:
    def change() -> None:
        node.body, node.orelse = node.orelse, node.body

    return change
