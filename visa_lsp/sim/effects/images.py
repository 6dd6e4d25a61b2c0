"""placeholder to be replaced within this session"""
EFFECTS: dict = {}
