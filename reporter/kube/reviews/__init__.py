"""Reviews of the users who send requests to this process: who they are, and what they may read."""
