"""The reference of the HTTP interface as a plain page, which loads nothing from anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

_METHODS = ("get", "post", "put", "delete")
_NONE = '<p class="quiet">None.</p>'


def reference_page(document: Mapping[str, Any], place: str) -> str:
    """A page with every address of an OpenAPI document: what it does, takes and answers.

    Parameters
    ----------
    document
        The OpenAPI document of the interface.
    place
        Where the interface is, before the paths of the document.
    """
    info = document["info"]
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{escape(info['title'])}: the HTTP interface</title></head><body><main>",
        f"<h1>{escape(info['title'])} {escape(info['version'])}: the HTTP interface</h1>",
        *(f"<p>{escape(text)}</p>" for text in info["description"].strip().split("\n\n")),
        '<p>The same for machines: <a href="openapi.json">openapi.json</a>.</p>',
    ]
    for tag in document.get("tags", ()):
        parts.append(f"<h2>{escape(tag['name'])}</h2><p>{escape(tag['description'])}</p>")
        for path, method, operation in _operations(document):
            if tag["name"] in operation.get("tags", ()):
                parts += _described(place + path, method, operation)
    parts.append("</main></body></html>\n")
    return "\n".join(parts)


def _operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                yield path, method, methods[method]


def _described(path: str, method: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h3><code>{method.upper()} {escape(path)}</code></h3>"
    yield f"<p>{escape(operation.get('description', operation.get('summary', '')))}</p>"
    taken = [*operation.get("parameters", ()), *_body(operation)]
    if taken:
        yield "<dl>"
        for each in taken:
            needed = "" if each.get("required") else ", may be left out"
            said = each.get("description") or each.get("schema", {}).get("title", "")
            yield f"<dt><code>{escape(each['name'])}</code> ({escape(each['in'])}{needed})</dt>"
            yield f"<dd>{escape(said)}</dd>"
        yield "</dl>"
    answers = ", ".join(sorted(code for code in operation.get("responses", ())))
    yield f"<p>Answers: {escape(answers)}</p>" if answers else _NONE


def _body(operation: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    body = operation.get("requestBody")
    if body:
        kinds = ", ".join(body.get("content", {}))
        said = f"{body.get('description', '')} {kinds}".strip()
        yield {"name": "body", "in": "body", "required": True, "description": said}
