"""
The probe for reasons in the Common Expression Language (CEL), about the objects of any served kind.

``preparation`` compiles the expressions of a catalogue and derives which fields of which objects they read;
``probe`` evaluates them. docs/own-reasons.md is for those who write such reasons.
"""
