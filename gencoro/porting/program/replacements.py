"""Functions that the program may replace at run time.

Rule: a call of such a function may return anything.

Pure.  Used by `gencoro.porting.program`, `gencoro.porting.coroutines` and
`gencoro.porting.callbacks`.
"""

import ast
import functools
import re

from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.class_hooks import has_class_hook
from gencoro.porting.program.namespaces import (
    Namespaces,
    is_written,
    namespace_of,
)
from gencoro.porting.program.origins import last_name, original_names
from gencoro.porting.program.references import references_of
from gencoro.porting.program.reflection import DELEGATORS, spellings

__all__ = ["Replacements", "replacements_of"]

# Names, such as a call of namedtuple or of mock.Mock has.
_NAMES = re.compile(r"[A-Za-z_][\w.]*(?:[, ]+[A-Za-z_][\w.]*)*")


class Replacements:
    """Names that a program replaces, and objects that resemble its functions.

    Args:
        program: The program.

    Attributes:
        rebound: The names that ``global`` and ``nonlocal`` statements have.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._references = references_of(program)
        self.rebound: set[str] = set()
        self._names: set[str] = set()
        self._swapped: set[str] = set()
        self._lookalikes: set[str] = set()
        self._written = Namespaces(program)
        self._has_delegators = False
        for module in program.modules.values():
            for node in module.nodes:
                self._visit(module, node)

    def may_replace(self, function: Function) -> bool:
        """Return whether the name of a function may refer to something else at run time."""
        if self.is_replaced(function.node.name):
            return True
        if function.owner is not None:
            return self._written.has_class_of(function)
        if "<locals>" in function.name:
            return False
        return self._is_written(function.module)

    def may_hide(self, function: Function, name: str) -> bool:
        """Return whether objects of a method's class may have another attribute of a name.

        That is, another one than what is assigned to it.
        """
        is_method = name in self._program.functions_by_name
        is_computed = "__getattribute__" in self._program.functions_by_name
        is_patched = name in self._references.lookups.patched
        is_written = self._written.has_class_of(function)
        return is_method or is_computed or is_patched or is_written

    def is_replaced(self, name: str) -> bool:
        """Return whether a name, or an attribute of that name, is bound by something."""
        names = self._names | self.rebound
        return name in names or self._references.is_replaced(name)

    def is_owner_replaced(self, module: Module, func: ast.expr) -> bool:
        """Return whether the module or object that has a function may be replaced.

        For a function without an owner, whether its name in that module may be.
        """
        pending = [func.value if isinstance(func, ast.Attribute) else func]
        seen: set[ast.expr] = set()
        while pending:
            owner = pending.pop()
            if isinstance(owner, ast.Attribute):
                if self._is_swapped(owner.attr):
                    return True
                pending.append(owner.value)
            elif isinstance(owner, ast.Name) and owner not in seen:
                seen.add(owner)
                if self._is_variable_replaced(module, owner):
                    return True
                pending += module.values_of(owner)
        return False

    def _is_variable_replaced(self, module: Module, node: ast.Name) -> bool:
        """Return whether a variable may be bound by something that is not its scope."""
        if node.id in self.rebound:
            return True
        scope = module.scope_at(node)._scope_of(node.id)
        if scope is not None and scope is not module.top:
            return False
        values = scope._bindings[node.id] if scope is not None else ()
        is_assigned = any(isinstance(value, ast.expr) for value in values)
        is_written = is_assigned and self._is_written(module)
        return is_written or self._is_swapped(node.id)

    def is_known(self, module: Module, owner: ast.expr) -> bool:
        """Return whether the class or module of an object is certain."""
        match owner:
            case ast.Call(func=ast.Name(id="super")):
                return True
            case ast.Name():
                things = module.things(owner)
                names = [getattr(thing.node, "name", "") for thing in things]
                is_bound_once = module.scope_at(owner).is_sure(owner)
                is_replaced = any(map(self.is_replaced, names))
                return bool(things) and is_bound_once and not is_replaced
        return False

    def may_be_elsewhere(self, name: str) -> bool:
        """Return whether objects of unknown classes may have an attribute of that name."""
        return (
            self._has_delegators
            or name in self._lookalikes
            or self._written.are_all_classes
        )

    def _is_written(self, module: Module) -> bool:
        return self._written.are_all_modules or self._written.has_module(module)

    def _is_swapped(self, name: str) -> bool:
        names = self._names | self.rebound | self._swapped
        return name in names or name in self._references.lookups.patched

    def _visit(self, module: Module, node: ast.AST) -> None:
        is_namespace, owner = namespace_of(node)
        if is_namespace and is_written(module, node):
            if owner is None:
                self._written.add_scope(module, node)
            else:
                self._written.add(module, owner)
        if isinstance(node, ast.Call):
            self._visit_call(module, node)
        elif isinstance(node, ast.ClassDef):
            if has_class_hook(module, node):
                self._written.add_class(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._has_delegators |= node.name in DELEGATORS
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            self.rebound.update(node.names)
        elif isinstance(node, ast.keyword):
            self._lookalikes.update([node.arg] if node.arg else [])
        elif isinstance(node, ast.Constant):
            self._visit_constant(module, node)
        elif isinstance(node, ast.Attribute):
            self._visit_attribute(node)
        elif isinstance(node, ast.Name):
            self._visit_name(module, node)

    def _visit_name(self, module: Module, node: ast.Name) -> None:
        """Record what a module of the program has, if that is used like any object."""
        parent = module.parents[node]
        scope = module.scope_at(node)._scope_of(node.id)
        if isinstance(parent, ast.Attribute) or scope is None:
            return
        if any(getattr(binding, "file", "") for binding in scope._bindings[node.id]):
            files = {thing.file for thing in module.things(node)}
            for other in self._program.modules.values():
                if other.top.file in files:
                    self._lookalikes.update(_variables_of(other))

    def _visit_attribute(self, node: ast.Attribute) -> None:
        owner = node.value
        if isinstance(owner, ast.Attribute):
            self._lookalikes.add(owner.attr)  # fake.load.return_value
        is_own = isinstance(owner, ast.Name) and owner.id in ("cls", "self")
        if not isinstance(node.ctx, ast.Load) and not is_own:
            self._swapped.add(node.attr)

    def _visit_call(self, module: Module, node: ast.Call) -> None:
        names = original_names(module, node.func)
        if names & {"setattr", "__setattr__"} and len(node.args) == 3:
            owner, key = node.args[:2]
            if not isinstance(key, ast.Constant):
                self._written.add(module, owner)
            else:
                self._names |= spellings(str(key.value))
        elif "exec" in names and len(node.args) == 1:
            self._written.add_scope(module, node)
        elif names & {"new_class", "type"} and len(node.args) > 1:
            self._written.are_all_classes = True

    def _visit_constant(self, module: Module, node: ast.Constant) -> None:
        """Record names in a text, unless it is only compared, shown or a key."""
        parent = module.parents.get(node)
        kinds = (ast.BinOp, ast.Compare, ast.Expr, ast.JoinedStr, ast.Subscript)
        text = node.value
        if not isinstance(text, str) or isinstance(parent, kinds):
            return
        is_list = (
            isinstance(parent, ast.Call) and last_name(parent.func) == "namedtuple"
        )
        if len(text) < 200 and _NAMES.fullmatch(text) and (is_list or " " not in text):
            self._lookalikes.update(re.findall(r"\w+", text))


def _variables_of(module: Module) -> set[str]:
    """Return the names that a module binds in another way than by a definition."""
    definitions = (ast.AsyncFunctionDef, ast.ClassDef, ast.FunctionDef)
    return {
        name
        for name, bindings in module.top._bindings.items()
        if not all(isinstance(binding, definitions) for binding in bindings)
    }


@functools.lru_cache(maxsize=1)
def replacements_of(program: Program) -> Replacements:
    """Return the run-time replacements of a program's functions (cached)."""
    return Replacements(program)
