"""Every metric, declared once: name, type, help text and labels."""
