"""How true a mock is: what the real app did on traces that the recording never saw, and what the mock does, running free."""
