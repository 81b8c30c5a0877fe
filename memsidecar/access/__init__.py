"""Access control: tokens, client certificates, roles, and limits of namespaces, as the access file grants them."""
