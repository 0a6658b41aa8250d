"""The suite on kind. Not yet verified: written where kind cannot run."""
