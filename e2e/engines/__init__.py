"""
The metrics pages of vLLM's releases, as their own classes write them.

The wheel of each release is downloaded once; of it the Python sources are kept, and used without a GPU and
without weights. The pages are those of stories (`reporter/stories/recorded`).
"""
