"""A kernel that Python calls is compiled as one piece with all that it calls.

Numba compiles every function by itself: it optimises it together with all that it calls, makes
machine code of it, and writes two wrappers, by which Python and C could call it. A chain of kernels
is so compiled again at each of its links. Here a kernel that is called by another one is only
typed and translated (a *part*); the parts are linked, optimised and made machine code of once, in
the kernel that Python calls. Parts take no literal types and no narrow whole numbers, so that most
are translated once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from numba.core import codegen, compiler, dispatcher, registry, types, typing

# Partly typed, by version.
_JITCodeLibrary: Any = codegen.JITCodeLibrary
_Compiler: Any = compiler.Compiler
_CPUDispatcher: Any = registry.CPUDispatcher
_types: Any = types
_typing: Any = typing
_dispatcher: Any = dispatcher

_OPTIONS: Final = {
    "nopython": True,
    "boundscheck": None,
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
_PART_OPTIONS: Final = {**_OPTIONS, "no_cpython_wrapper": True}


class _PartLibrary(_JITCodeLibrary):  # type: ignore[misc, unused-ignore]
    """The code of a part, neither optimised nor made machine code of."""

    _linking_libraries: list[Any]

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._finalized = True


class _WholeLibrary(_JITCodeLibrary):  # type: ignore[misc, unused-ignore]
    """The code of a kernel with all its parts."""

    _linking_libraries: list[Any]

    def finalize(self) -> None:
        self._linking_libraries = list(_all_called(self._linking_libraries, {}))
        super().finalize()

    def _optimize_final_module(self) -> None:
        # Nobody else calls the parts: one that is called once is then inlined, and dropped.
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "linkonce_odr":
                function.linkage = "internal"
        super()._optimize_final_module()


def _all_called(libraries: list[Any], seen: dict[Any, None]) -> dict[Any, None]:
    """These libraries, and those that the parts among them call, each once."""
    for library in libraries:
        if library not in seen:
            seen[library] = None
            if isinstance(library, _PartLibrary):
                _all_called(library._linking_libraries, seen)
    return seen


class _PartCompiler(_Compiler):  # type: ignore[misc, unused-ignore]
    def __init__(self, typing_context: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing_context, target, library, *rest)
        self.state.flags.no_compile = True
        self.state.library = _PartLibrary(target.codegen(), "part")


class _WholeCompiler(_Compiler):  # type: ignore[misc, unused-ignore]
    def __init__(self, typing_context: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing_context, target, library, *rest)
        self.state.library = _WholeLibrary(target.codegen(), "kernel")
        self.state.library.enable_object_caching()


class Kernel(_CPUDispatcher):  # type: ignore[misc, unused-ignore]
    """A kernel: called by Python it is compiled whole, called by another kernel it is a part."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, targetoptions=dict(_OPTIONS), pipeline_class=_WholeCompiler)
        self.parts: dict[tuple[Any, ...], Any] = {}
        self._part_compiler = _dispatcher._FunctionCompiler(
            function, self.targetdescr, _PART_OPTIONS, {}, _PartCompiler
        )

    def get_call_template(self, args: Any, kws: Any) -> tuple[Any, Any, Any, Any]:
        """What Numba asks for when another kernel calls this one."""
        signature, args = self._compiler.fold_argument_types(args, kws)
        args = tuple(_plain_type(kind) for kind in args)
        if args not in self.parts:
            self.parts[args] = self._compile_part(args)
        template = _typing.make_concrete_template(
            f"CallTemplate({self.py_func.__name__})",
            key=self.py_func.__name__,
            signatures=[part.signature for part in self.parts.values()],
        )
        return template, signature, args, {}

    def get_overload(self, sig: Any) -> Any:
        """What stands for a part among all functions that Numba knows."""
        return self.parts[tuple(sig)].entry_point

    def _compile_part(self, args: tuple[Any, ...]) -> Any:
        part = self._part_compiler.compile(args, None)
        part = part._replace(entry_point=object())
        self.targetctx.insert_user_function(part.entry_point, part.fndesc, [part.library])
        return part


def _plain_type(kind: Any) -> Any:
    """The type as which a part takes an argument of this type."""
    kind = _types.unliteral(kind)
    narrow = isinstance(kind, _types.Integer) and kind.bitwidth < 32
    return _types.int64 if narrow else kind
