"""A record takes its fields from its annotations, and says as Python does what does not fit them."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import KW_ONLY

import pytest

from skills.lib.record import Record


class Cup(Record):
    """A cup."""

    name: str
    size: int = 2
    _: KW_ONLY
    labels: Sequence[str] = ()
    maker: str | None = None
    clean: bool = False

    def _check(self) -> None:
        if self.size < 1:
            raise ValueError(f"Cup size: {self.size} is less than 1")
        self._set(size=self.size * 100)


class Empty(Record):
    """Nothing."""


def test_fields_are_given_by_place_or_name_and_checked() -> None:
    cup = Cup("tea", 3, labels="hot", clean=1)  # type: ignore[arg-type]
    assert cup.fields() == {"name": "tea", "size": 300, "labels": ("hot",), "maker": None, "clean": True}
    assert repr(Cup("tea")) == "Cup(name='tea', size=200, labels=(), maker=None, clean=False)"
    assert Cup("tea") == Cup(name="tea") != Cup("tea", 4)
    assert hash(Cup("tea")) == hash(Cup("tea"))
    assert Empty() == Empty() != Cup("tea")


@pytest.mark.parametrize(
    "given, named, says",
    [
        ((), {}, r"Cup.__init__\(\) missing 1 required positional argument: 'name'"),
        (("a", 1, ("b",)), {}, r"Cup.__init__\(\) takes from 2 to 3 positional arguments but 4 were given"),
        (("a",), {"name": "b"}, r"Cup.__init__\(\) got multiple values for argument 'name'"),
        (("a",), {"colour": "red"}, r"Cup.__init__\(\) got an unexpected keyword argument 'colour'"),
        ((5,), {}, "Cup name: 5 is not text"),
        (("a",), {"maker": 5}, "Cup maker: 5 is not text, and not None"),
        (("a",), {"labels": [5]}, "Cup labels: 5 is not text"),
        (("a",), {"self": 5}, r"Cup.__init__\(\) got multiple values for argument 'self'"),
    ],
)
def test_arguments_that_do_not_fit_get_a_type_error(
    given: tuple[object, ...], named: dict[str, object], says: str
) -> None:
    with pytest.raises(TypeError, match=says):
        Cup(*given, **named)  # type: ignore[arg-type]


def test_the_hook_refuses_a_value() -> None:
    with pytest.raises(ValueError, match="Cup size: 0 is less than 1"):
        Cup("a", 0)


def test_a_record_is_frozen_has_slots_and_can_be_copied_and_pickled() -> None:
    cup = Cup("tea", labels=["hot"])
    with pytest.raises(AttributeError, match="Cup is frozen: name cannot be changed"):
        cup.name = "milk"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="Cup is frozen: name cannot be changed"):
        del cup.name
    assert not hasattr(cup, "__dict__")
    assert copy.copy(cup) == copy.deepcopy(cup) == pickle.loads(pickle.dumps(cup)) == cup


def test_the_signature_is_that_of_the_annotations_and_costs_no_inspect_at_start() -> None:
    assert str(inspect.signature(Cup)) == (
        "(name: 'str', size: 'int' = 2, *, labels: 'Sequence[str]' = (), maker: 'str | None' = None, "
        "clean: 'bool' = False)"
    )
    code = "import sys; import skills.lib.record; print('inspect' in sys.modules, 'typing' in sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False False\n"
