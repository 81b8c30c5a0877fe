"""Who may do what: tokens, certificates, namespaces and roles, as the access file says."""
