"""The gRPC services: handlers, the server, interceptors and admission."""
