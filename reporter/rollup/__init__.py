"""The roll-up status: from an Evaluation and its snapshot to one answer for each subject."""
