"""Markdown -> HTML that is safe to show: raw HTML is off in the parser, and what comes out is cleaned once more."""

from __future__ import annotations

import inspect

import nh3
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt

TAGS = {
    "p",
    "ul",
    "ol",
    "li",
    "code",
    "pre",
    "em",
    "strong",
    "a",
    "h2",
    "h3",
    "h4",
    "blockquote",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "br",
    "hr",
}
PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")


def draw(text: str) -> SafeString:
    """HTML of a markdown text, such as a rule's docstring."""
    html = PARSER.render(inspect.cleandoc(text))
    return SafeString(nh3.clean(html, tags=TAGS, attributes={"a": {"href"}}, url_schemes={"https", "http"}, link_rel="noreferrer noopener"))
