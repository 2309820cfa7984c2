"""The commands, by what they are about; each parses, calls and prints."""
