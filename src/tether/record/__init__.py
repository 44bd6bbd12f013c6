"""DID: the journal, the trace ledger and what is derived from them."""
