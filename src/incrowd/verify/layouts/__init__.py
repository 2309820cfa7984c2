"""The layouts of a release that the judge knows: tables of records and tables apart from them."""
