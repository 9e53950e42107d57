"""The language server: `cajetac lsp`, on stdin and stdout. Sources: the Language Server Protocol 3.17 and JSON-RPC 2.0.

`wire` frames messages, `translate` turns findings into the protocol's words, `server` answers.
"""
