import ast
import operator

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def _walk(node, values):
    if isinstance(node, ast.Expression):
        return _walk(node.body, values)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_walk(node.left, values), _walk(node.right, values))
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    raise ValueError("not allowed in a formula")


def ratio(expression, values):
    return _walk(ast.parse(expression, mode="eval"), values)


class DerivedValue:
    def __init__(self, expression, rounding=2):
        self.expression = expression.strip()
        self.rounding = rounding

    def compute(self, values):
        scope = {"__builtins__": {}, **values}
        number = eval(self.expression, scope)
        return round(float(number), self.rounding)
