"""Where the book can be read online."""

PLACEHOLDER = "OWNER"


def home(repository: str) -> str:
    """Return the address of the site that GitHub Pages makes of a repository, or "" while that has no owner.

    >>> home("https://github.com/Ada/d2lpos")
    'https://ada.github.io/d2lpos/'
    >>> home("https://github.com/ada/ada.github.io")
    'https://ada.github.io/'
    """
    owner, name = repository.rstrip("/").split("/")[-2:]
    if owner == PLACEHOLDER:
        return ""
    host = f"{owner.lower()}.github.io"
    return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"
