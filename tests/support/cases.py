"""A test of many small cases as one test: collecting and reporting each would cost more than running it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import Any

from _pytest.mark.structures import ParameterSet

Test = Callable[..., None]


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run the test for each case, as `pytest.mark.parametrize` does, and report all that fail.

    For tests that share nothing between cases: what fixtures make is made once.
    """
    names = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    cases = [ParameterSet.extract_from(case, force_tuple=len(names) == 1) for case in cases]

    def decorate(test: Test) -> Test:
        @wraps(test)
        def run(**fixtures: Any) -> None:
            failures = []
            for case in cases:
                try:
                    test(**dict(zip(names, case.values, strict=True)), **fixtures)
                except Exception as failure:
                    failure.add_note(f"in the case {case.id or case.values!r}")
                    failures.append(failure)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(cases)} cases fail", failures)

        given = signature(test)
        others = [parameter for name, parameter in given.parameters.items() if name not in names]
        run.__signature__ = given.replace(parameters=others)  # type: ignore[attr-defined]
        return run

    return decorate
