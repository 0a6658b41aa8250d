"""
Benchmarks of the reporter: reaction time, start, memory, load on the API server, outages, scraping.
"""
