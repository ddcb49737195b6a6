"""Classes of a program that inherit from gen.Return, and what raising one returns.

Rule: the value is certain only if each constructor calls the one of its base class.  In a
program that makes such an object without raising it there, what is raised may be one unless
it certainly is another class.

Pure.  Used by `gencoro.porting.coroutines.caught_classes`,
`gencoro.porting.coroutines.raised_returns` and `gencoro.porting.fixers.to_async.returns`.
"""

import ast
import builtins
import functools

from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.class_hooks import has_class_hook
from gencoro.porting.program.origins import original_names, root_of
from gencoro.porting.program.replacements import replacements_of

__all__ = ["RETURN", "is_return_class", "may_be_made_elsewhere", "raised_objects"]

RETURN = "tornado.gen.Return"

# What a class may define that would change how its object gets a value, or has it.
_OTHERS = frozenset({"__getattribute__", "__new__", "__setattr__", "value"})


def is_return_class(module: Module, node: ast.expr) -> bool:
    """Return whether an expression may be gen.Return or a class that inherits from it."""
    return RETURN in module.names(node) or any(
        isinstance(thing.node, ast.ClassDef)
        and thing.home is not None
        and RETURN in thing.home.bases(thing.node)
        for thing in module.things(node)
    )


def raised_objects(function: Function, program: Program) -> list[ast.Raise]:
    """Return the statements that raise an object of such a class, whose value is certain."""
    return [
        node
        for node in function.own
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and node.cause is None
        and _has_value(program, function.module, node.exc.func)
    ]


def _has_value(program: Program, module: Module, node: ast.expr) -> bool:
    """Return whether a class inherits from gen.Return, and sets the value as that does."""
    if not module.scope_at(node).is_sure(node):
        return False
    things = module.things(node)
    seen: set[ast.ClassDef] = set()
    while len(things) == 1 and isinstance(things[0].node, ast.ClassDef):
        owner = things[0].node
        home = program.module_by_class.get(owner)
        if home is None or owner in seen or not _is_plain(program, home, owner):
            return False
        seen.add(owner)
        things = home.scope_at(owner).own_bases(owner)
    return bool(seen) and len(things) == 1 and things[0].name == RETURN


def _is_plain(program: Program, module: Module, owner: ast.ClassDef) -> bool:
    """Return whether a class leaves it to its base class what its objects are."""
    if owner.decorator_list or owner.keywords or len(owner.bases) != 1:
        return False
    is_replaced = replacements_of(program).is_replaced(owner.name)
    if is_replaced or has_class_hook(module, owner):
        return False
    methods = {n.name: n for n in owner.body if isinstance(n, ast.FunctionDef)}
    if _OTHERS & (methods.keys() | _assigned_in(owner)):
        return False
    made = methods.get("__init__")
    return made is None or any(map(_calls_base, made.body))


def _assigned_in(owner: ast.ClassDef) -> set[str]:
    """Return the names of the variables and attributes that a class assigns."""
    return {
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(owner)
        if isinstance(node, (ast.Attribute, ast.Name))
        and not isinstance(node.ctx, ast.Load)
    }


def _calls_base(statement: ast.stmt) -> bool:
    """Return whether a statement calls ``super().__init__`` in any case."""
    match statement:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(
                    value=ast.Call(func=ast.Name(id="super")), attr="__init__"
                )
            )
        ):
            return True
    return False


def may_be_made_elsewhere(program: Program, module: Module, node: ast.AST) -> bool:
    """Return whether a node raises what may be an object made in another place."""
    if not isinstance(node, ast.Raise) or node.exc is None or not _are_kept(program):
        return False
    callee = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return not is_return_class(module, callee) and not _is_other_class(module, callee)


def _is_other_class(module: Module, node: ast.expr) -> bool:
    """Return whether an expression is a class from elsewhere or of the program, or a caught error."""
    things = module.things(node)
    if things:
        return all(
            isinstance(thing.node, ast.ClassDef) if thing.node else not thing.is_object
            for thing in things
        )
    root = root_of(node)
    if not isinstance(root, ast.Name):
        return False
    scope = module.scope_at(root)._scope_of(root.id)
    if scope is None:
        return root is node and hasattr(builtins, root.id)
    return any(
        (node.asname or node.name.partition(".")[0]) == root.id
        if isinstance(node, ast.alias)
        else isinstance(node, ast.ExceptHandler) and node.name == root.id
        for node in module.nodes
    )


@functools.lru_cache(maxsize=1)
def _are_kept(program: Program) -> bool:
    """Return whether a program makes such objects, or passes the class on, without raising it."""
    classes = {
        node.name
        for module in program.modules.values()
        for node in module.classes
        if RETURN in module.scope_at(node).bases(node)
    }
    return any(
        original_names(module, node) & {"Return", *classes}
        and isinstance(node, (ast.Attribute, ast.Name))
        and not _is_raised(module, node)
        and is_return_class(module, node)
        for module in program.modules.values()
        for node in module.nodes
    )


def _is_raised(module: Module, node: ast.expr) -> bool:
    """Return whether a use of a class raises it, catches it, or gives it another name."""
    parent = module.parents[node]
    if module.is_called(node):
        return isinstance(module.parents[parent], ast.Raise)
    if isinstance(parent, ast.Tuple):
        parent = module.parents[parent]
    match parent:
        case ast.Assign(targets=targets):
            return all(isinstance(target, ast.Name) for target in targets)
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass")):
            return True
    return isinstance(parent, (ast.ClassDef, ast.ExceptHandler, ast.Raise))
