"""A kernel that Python calls is compiled as one piece with all that it calls.

Numba compiles every function by itself: it optimises it together with all that it calls, makes
machine code of it, and writes two wrappers, by which Python and C could call it. A chain of kernels
is so compiled again at each of its links. Here a kernel that is called by another one is only
typed and translated (a *part*); the parts are linked, optimised and made machine code of once, in
the kernel that Python calls. Parts take no literal types and no narrow whole numbers, so that most
are translated once. Large parts that several kernels have are *shared*: kept from one process to
the next as they are translated, so that `verify` need not translate what generating has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from llvmlite import binding
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


class _Part(NamedTuple):
    """A kernel as a part, for one list of types."""

    fndesc: Any
    signature: Any
    library: _PartLibrary
    key: object
    """What stands for it among all functions that Numba knows."""

    @property
    def codegen(self) -> Any:
        """What makes code of it, which a cache asks for."""
        return self.library.codegen

    def reduced(self) -> tuple[Any, Any, bytes]:
        """What a cache keeps: also the code of all that it calls."""
        module = self.library._final_module.clone()
        for library in _all_called(self.library._linking_libraries, {}):
            module.link_in(library._get_module_for_linking(), preserve=True)
        self.fndesc.typemap = self.fndesc.calltypes = None  # as Numba does: not for pickling
        return self.fndesc, self.signature, module.as_bitcode()


def _part_from(reduced: tuple[Any, Any, bytes], target: Any) -> _Part:
    """The part that was kept so."""
    fndesc, signature, code = reduced
    library = _PartLibrary(target.codegen(), "part")
    library._final_module = binding.parse_bitcode(code)
    library.finalize()
    return _Part(fndesc, signature, library, object())


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
    """A kernel: called by Python it is compiled whole, called by another kernel it is a part.

    Parameters
    ----------
    function
        What it does, in Python.
    kept
        Where it is kept when it was compiled whole.
    kept_parts
        Where it is kept as a part.
    """

    def __init__(
        self, function: Callable[..., Any], *, kept: Any = None, kept_parts: Any = None
    ) -> None:
        super().__init__(function, targetoptions=dict(_OPTIONS), pipeline_class=_WholeCompiler)
        if kept is not None:
            self._cache = kept
        self._kept_parts = kept_parts
        self.parts: dict[tuple[Any, ...], _Part] = {}
        self._part_compiler = _dispatcher._FunctionCompiler(
            function, self.targetdescr, _PART_OPTIONS, {}, _PartCompiler
        )

    def get_call_template(self, args: Any, kws: Any) -> tuple[Any, Any, Any, Any]:
        """What Numba asks for when another kernel calls this one."""
        signature, args = self._compiler.fold_argument_types(args, kws)
        args = tuple(_plain_type(kind) for kind in args)
        if args not in self.parts:
            part = self._find_part(args)
            self.targetctx.insert_user_function(part.key, part.fndesc, [part.library])
            self.parts[args] = part
        template = _typing.make_concrete_template(
            f"CallTemplate({self.py_func.__name__})",
            key=self.py_func.__name__,
            signatures=[part.signature for part in self.parts.values()],
        )
        return template, signature, args, {}

    def get_overload(self, sig: Any) -> Any:
        """What stands for a part among all functions that Numba knows."""
        return self.parts[tuple(sig)].key

    def _find_part(self, args: tuple[Any, ...]) -> _Part:
        """The part for these types, translated now if it is not kept."""
        if self._kept_parts is not None:
            reduced = self._kept_parts.load_overload(args, self.targetctx)
            if reduced is not None:
                return _part_from(reduced, self.targetctx)
        made = self._part_compiler.compile(args, None)
        part = _Part(made.fndesc, made.signature, made.library, object())
        if self._kept_parts is not None:
            self._kept_parts.save_overload(args, part)
        return part


def _plain_type(kind: Any) -> Any:
    """The type as which a part takes an argument of this type."""
    kind = _types.unliteral(kind)
    narrow = isinstance(kind, _types.Integer) and kind.bitwidth < 32
    return _types.int64 if narrow else kind
