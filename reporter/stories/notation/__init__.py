"""The notation of a story's file: its keys, durations, numbered objects and expectations."""
