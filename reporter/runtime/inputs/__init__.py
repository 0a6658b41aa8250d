"""Fill the store: what is watched, scraped and discovered, and the permissions for it."""
