"""Actions in the words of each agent family, both ways, in each coordinate convention. Pure; does not know who speaks."""
