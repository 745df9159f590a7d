"""What a moving figure is: settings, planes, and a function from settings to a frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lowdim.publish.site.moving_plane import Plane, element

State = Mapping[str, float]


@dataclass(frozen=True)
class Frame:
    """One picture: attributes of each moving part, values by name, and two ways to get them.

    ``command`` runs the chapter with what is set, as far as its parameters know it; ``call`` is
    Python, and prints a number of the picture from the library.
    """

    parts: dict[str, dict[str, Any]]
    values: dict[str, str]
    command: str
    call: str


@dataclass(frozen=True)
class Setting:
    """A slider: where it begins and ends, its step, where it stands at first.

    ``play`` offers a button that runs through it.
    """

    low: float
    high: float
    step: float
    start: float
    play: bool = False


@dataclass(frozen=True)
class Handle:
    """A point to drag: the part that is it, its two settings, and the plane that it lives in.

    ``grip`` is a larger part around it that nobody sees, for fingers.
    """

    part: str
    grip: str
    settings: tuple[str, str]
    plane: str


@dataclass(frozen=True)
class Figure:
    """All that a moving figure is, but its words."""

    size: tuple[int, int]
    planes: Mapping[str, Plane]
    settings: Mapping[str, Setting]
    frame: Callable[[State], Frame]
    scenery: Callable[[], tuple[str, str]]
    moving: tuple[tuple[str, str, str], ...]
    handle: Handle | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def start(self) -> dict[str, float]:
        """The settings of the first frame."""
        return {name: setting.start for name, setting in self.settings.items()}

    def svg(self, frame: Frame) -> str:
        """What is inside the picture: scenery behind, what moves, scenery in front."""
        behind, front = self.scenery()
        drawn = [element(tag, part, css, frame.parts[part]) for tag, part, css in self.moving]
        return behind + "".join(drawn) + front
