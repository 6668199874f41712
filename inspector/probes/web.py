"""One GET for a look: an address with slots, headers with secrets, no redirect, no proxy, and bounds on time and size."""

from __future__ import annotations

import http.client
import re
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from .pointer import SLOT
from .secrets import Secrets, variable_problem
from .template import NotAsked, Template, text_key

TIMEOUT = 15
"""Seconds for the whole answer."""
LARGEST = 1024 * 1024
"""Bytes of an answer."""
HEADER = re.compile(r"[A-Za-z0-9-]{1,60}")
NOT_OURS = re.compile(r"host|connection|content-.*|transfer-encoding|te|upgrade|expect|accept-encoding|.*method.*", re.IGNORECASE)
"""Headers that a template may not set: they steer the connection, or turn a GET into something else at the target."""
KEYS = {"url": True, "headers": False, "http_hosts": False}


class Response(NamedTuple):
    status: int
    body: bytes


def problems(template: Template) -> Iterator[str]:
    """What is wrong with `url`, `headers` and `http_hosts` of a template."""
    yield from url_problems(template)
    headers = template.config.get("headers", {})
    if not isinstance(headers, Mapping):
        yield '`headers` must be an object: name -> text, or {"env": "NAME"} for a secret.'
        return
    for name, given in headers.items():
        if not HEADER.fullmatch(name) or NOT_OURS.fullmatch(name):
            yield f"The header `{name}` may not be set here."
        elif isinstance(given, str):
            if not given.isascii() or not given.isprintable():
                yield f"The header `{name}` must be printable ASCII."
        elif wrong := variable_problem(given, f"The header `{name}`"):
            yield wrong


def url_problems(template: Template) -> Iterator[str]:
    """Slots only where a value can't change where the request goes."""
    url = text_key(template, "url")
    if not re.fullmatch(r"[\x21-\x7e]+", url) or "\\" in url:
        yield "`url` must be printable ASCII without spaces and backslashes."
        return
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        yield "`url` is no address."
        return
    names = re.findall(r"\{([^{}]*)\}", url)
    for name in names:
        if name not in template.parameters:
            yield f"`url` has a slot {{{name}}} without a parameter of this name."
    before_path = f"{parts.scheme}{parts.netloc}{parts.fragment}"
    query_names = "".join(piece.partition("=")[0] for piece in parts.query.split("&"))
    if set("{}") & set(before_path + query_names + SLOT.sub("", url)):
        yield "`url` may have slots {name} only in segments of the path and in values of the query."
    if not host or parts.username is not None or parts.password is not None or parts.fragment:
        yield "`url` must name a host, without user, password or #."
    hosts = template.config.get("http_hosts", [])
    if not isinstance(hosts, list) or not all(isinstance(each, str) for each in hosts):
        yield "`http_hosts` must be a list of hosts, as HOST or HOST:PORT."
    elif parts.scheme != "https" and not (parts.scheme == "http" and parts.netloc in hosts):
        yield "`url` must be https; plain http goes only to hosts that `http_hosts` lists."
    if re.search(r"(?:^|&)[^=]*method[^=]*=", parts.query, re.IGNORECASE):
        yield "`url` may not carry a method in its query."


def fill(url: str, values: Mapping[str, str]) -> str:
    """The address with the typed values in its slots, percent-encoded. Raises NotAsked for a value that would change the path."""
    head, mark, query = url.partition("?")
    for name in SLOT.findall(head):
        if {".", ".."} & set(re.split(r"[/\\]", unquote(unquote(values[name])))):
            raise NotAsked(f"Nothing was asked: `{name}` must not hold . or .. as a step of a path.")

    def put(found: re.Match[str]) -> str:
        return quote(values[found[1]], safe="")

    filled = SLOT.sub(put, head)
    if any(unquote(segment) in (".", "..") for segment in filled.split("/")):
        raise NotAsked("Nothing was asked: the values make a step of the path . or ..")
    return filled + mark + SLOT.sub(put, query)


def get(template: Template, values: Mapping[str, str], secrets: Secrets, more: str = "") -> Response:
    """Send one GET and read the whole answer; `more` is added to the query.

    Raises NotAsked when the target can't be reached, redirects, or answers too much or too slowly.
    """
    url = urlsplit(fill(text_key(template, "url"), values))
    query = "&".join(filter(None, (url.query, more)))
    headers = {"Accept": "application/json", **read_headers(template.config.get("headers", {}), secrets), "Accept-Encoding": "identity"}
    host, port = url.hostname or "", url.port
    connection: http.client.HTTPConnection
    if url.scheme == "https":
        connection = http.client.HTTPSConnection(host, port, timeout=TIMEOUT, context=ssl.create_default_context())
    else:
        connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT)
    late = threading.Event()
    timer: threading.Timer | None = None
    try:
        connection.connect()
        timer = threading.Timer(TIMEOUT, hang_up, (connection.sock, late))
        timer.daemon = True
        timer.start()
        connection.request("GET", (url.path or "/") + ("?" + query if query else ""), headers=headers)
        answer = connection.getresponse()
        body = answer.read(LARGEST + 1)
        cut = bool(answer.length) and len(body) <= LARGEST
    except ssl.SSLCertVerificationError:
        raise NotAsked(f"The certificate of {url.netloc} was not accepted. Nothing was sent.") from None
    except TimeoutError:
        raise NotAsked(f"{url.netloc} gave no answer within {TIMEOUT} seconds. Try again later.") from None
    except (OSError, http.client.HTTPException, ValueError):
        slow = f"{url.netloc} took longer than {TIMEOUT} seconds." if late.is_set() else f"{url.netloc} could not be reached or broke off."
        raise NotAsked(f"{slow} Check its address and the network, and try again.") from None
    finally:
        if timer:
            timer.cancel()
        connection.close()
    if late.is_set():
        raise NotAsked(f"{url.netloc} took longer than {TIMEOUT} seconds. Try again later.")
    if cut:
        raise NotAsked(f"{url.netloc} broke off in the middle of its answer. Try again.")
    if len(body) > LARGEST:
        raise NotAsked(f"{url.netloc} answered more than {LARGEST} bytes. An administrator must ask for less.")
    return checked(Response(answer.status, body), url.netloc)


def checked(response: Response, where: str) -> Response:
    """The response, if it says anything about what was asked. Raises NotAsked."""
    status = response.status
    if status in (401, 403, 407):
        raise NotAsked(f"{where} did not let the probe in (status {status}). An administrator must check its headers.")
    if 300 <= status < 400:
        raise NotAsked(f"{where} sends on to another address (status {status}), which a probe does not follow. Put the final one into the template.")
    if status in (408, 425, 429) or status >= 500 or status < 200:
        raise NotAsked(f"{where} could not answer (status {status}). Try again later.")
    return response


def read_headers(given: Mapping[str, Any], secrets: Secrets) -> dict[str, str]:
    """Header values, secrets read from the environment. Raises NotAsked for a variable that is not set or is no header value."""
    headers = {}
    for name, value in given.items():
        if not isinstance(value, str):
            variable = value["env"]
            value = secrets.read(variable)
            if value is None:
                raise NotAsked(f"The environment variable {variable} is not set. Set it where the inspector runs, and start it anew.")
            if not value.isascii() or not value.isprintable():
                raise NotAsked(f"The environment variable {variable} holds a line end or another character that no header may have.")
        headers[name] = value
    return headers


def hang_up(connected: socket.socket, late: threading.Event) -> None:
    """End a connection whose time is over, so that the waiting read returns."""
    late.set()
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)
