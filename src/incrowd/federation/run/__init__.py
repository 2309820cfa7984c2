"""A run among hospitals: from the own file to the joint release, at each level of trust."""
