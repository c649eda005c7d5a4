"""Page objects: each widget as a person meets it on a page, wherever that page comes from."""
