"""The one place that names it; pyproject.toml reads it from here."""

VERSION = "0.1.0"
