"""Admission of calls: authentication, authorization, limits per tenant, and the audit log."""
