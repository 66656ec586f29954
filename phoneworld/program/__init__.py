"""The executable form of an app, as data. Does not know how it was obtained or how it is drawn."""
