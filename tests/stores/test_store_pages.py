"""The pages of stores: threads listed and searched, brought in, and what came since; an address is on none of them."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.test import Client

from inspector.models import Session
from inspector.views import stores as view
from tests.stores.recorded import Case

pytestmark = pytest.mark.django_db
MANY = Case("langgraph-sqlite", "multi_thread")
PARTIAL = Case("langgraph-postgres", "agent_parallel_partial_sync")


@pytest.fixture
def client(owner: User, client: Client) -> Client:
    client.force_login(owner)
    return client


def page(client: Client, address: str, **query: str) -> str:
    answer = client.get(address, query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_threads_are_listed_searched_and_paged(client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.STORES = {"orders": str(MANY.sqlite)}
    monkeypatch.setattr(view, "PAGE", 2)
    assert 'href="/stores/orders/"' in page(client, "/stores/")
    assert 'href="/stores/"' in page(client, "/")
    first = page(client, "/stores/orders/")
    assert 'value="alpha"' in first and 'value="beta/ü 1"' not in first and "after=alpha" in first
    second = page(client, "/stores/orders/", after="alpha")
    assert 'value="beta/ü 1"' in second and "Next page" not in second
    assert 'value="alpha"' in page(client, "/stores/orders/", q="al") and "No thread begins so" in page(client, "/stores/orders/", q="zz")
    assert client.get("/stores/other/").status_code == 404


def test_chosen_threads_are_brought_in(client: Client, settings: Any) -> None:
    settings.STORES = {"orders": str(MANY.sqlite)}
    answer = client.post("/stores/orders/", {"thread": ["alpha", "beta/ü 1"]}, follow=True)
    assert "2 sessions brought in" in answer.content.decode()
    assert set(Session.objects.values_list("native_id", flat=True)) == {"alpha", "beta/ü 1"}
    listed = page(client, "/stores/orders/")
    assert listed.count("not brought in") == 1 and "more in the store" not in listed
    assert client.post("/stores/orders/", {}, follow=True).content.decode().count("Choose at least one thread") == 1


def test_what_came_since_is_said(client: Client, settings: Any, store_database: psycopg.Connection[Any], store_server: str) -> None:
    PARTIAL.load(store_database)
    later = store_database.execute("DELETE FROM checkpoint_writes WHERE task_path LIKE '~__pregel_push%%' RETURNING *").fetchall()
    settings.STORES = {"prod": store_server}
    assert client.post("/stores/prod/", {"thread": "t1"}).status_code == 302
    for row in later:
        store_database.execute(f"INSERT INTO checkpoint_writes VALUES ({', '.join(['%s'] * len(row))})".encode(), row)
    assert "2 rows more in the store" in page(client, "/stores/prod/")
    assert "2 rows more." in client.post("/stores/prod/", {"thread": "t1"}, follow=True).content.decode()
    session = Session.objects.get()
    assert session.revisions.count() == 2 and session.place == ""


def test_an_address_is_on_no_page(client: Client, settings: Any) -> None:
    settings.STORES = {"prod": "postgresql://anna:Geheim-77@127.0.0.1:1/shop"}
    said = page(client, "/stores/") + page(client, "/stores/prod/")
    said += client.post("/stores/prod/", {"thread": "t1"}, follow=True).content.decode()
    assert "the server can&#x27;t be reached" in said
    assert not any(word in said for word in ("Geheim", "anna", "127.0.0.1", "shop"))
