"""What a screen is: geometry, widget trees, actions. Knows no graph, app or file."""
