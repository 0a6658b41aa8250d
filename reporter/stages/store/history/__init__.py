"""
The memory of objects beside their newest version.

It answers: what happened to this object before, that its present status does not tell?
"""
