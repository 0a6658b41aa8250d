"""The places that entries come from: packs, what they say of their subjects, and an overlay."""
