"""Addresses of the pages."""


