"""The syntax of the language: `cajeta.lark` says it, `tables.py` turns it into LALR tables. Nothing else knows lark."""
