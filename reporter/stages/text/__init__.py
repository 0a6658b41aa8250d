"""
Foreign text made fit for messages, and phrases that messages share.

It answers: what may an Event quote, and how?
"""
