"""Records in an SQL engine, counted request by request: more rows than memory holds."""
