"""What every request passes before it is worked on: credentials, rights, rates, and a record of who did what."""
