"""The kinds of this program's own API group, whose CRDs the chart installs if it is asked to."""
