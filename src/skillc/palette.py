"""Write the colours of every page that we make: of the registry, `skc ui`, usage and the documentation.

They are CSS variables, for light and dark; each text colour has a contrast of 4.5 or more on each ground.
"""

LIGHT = {
    "ground": "#ffffff",
    "raised": "#f4f7f8",
    "ink": "#17212b",
    "soft": "#536170",
    "line": "#dde4e8",
    "accent": "#0b6073",
    "accent-ink": "#ffffff",
    "accent-ground": "#e3f2f4",
    "warn": "#854a00",
    "warn-ground": "#fff3e0",
    "bad": "#b3261e",
    "bad-ground": "#fdebe9",
    "good": "#14633a",
    "good-ground": "#e4f5ec",
    "old": "#fdeceb",
    "old-strong": "#f5c6c2",
    "new": "#e6f5ea",
    "new-strong": "#b5dfc0",
    "code-comment": "#5b6874",
    "code-string": "#19683c",
    "code-name": "#0b6073",
    "code-number": "#854a00",
    "code-word": "#7b2d8b",
}
DARK = {
    "ground": "#0f1419",
    "raised": "#171e25",
    "ink": "#e5eaef",
    "soft": "#a0adb9",
    "line": "#2b3640",
    "accent": "#76c9d8",
    "accent-ink": "#06252c",
    "accent-ground": "#12303a",
    "warn": "#f0b36e",
    "warn-ground": "#33260f",
    "bad": "#ff9e95",
    "bad-ground": "#3c1c1a",
    "good": "#88d9a6",
    "good-ground": "#12301f",
    "old": "#3a2221",
    "old-strong": "#6b302c",
    "new": "#1a3323",
    "new-strong": "#295c3a",
    "code-comment": "#93a0ad",
    "code-string": "#90d7a9",
    "code-name": "#76c9d8",
    "code-number": "#f0b36e",
    "code-word": "#d6a8e8",
}
SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'
MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'


def write_palette() -> str:
    """Return the variables as CSS, with the dark ones for those who prefer dark."""
    light = _write({**LIGHT, "sans": SANS, "mono": MONO})
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {_write(DARK)} }} }}\n"


def _write(values: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in values.items())
