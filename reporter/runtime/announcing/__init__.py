"""
The loop that writes Events while this process leads.

It answers: who writes an Event, and what becomes of a failed write?
"""
