"""Developer tools that look at the code base. Not part of the package."""
