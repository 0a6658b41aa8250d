"""
The loop that keeps each episode as a HealthEvent while this process leads.

It answers: who writes a HealthEvent, and what becomes of a failed write?
"""
