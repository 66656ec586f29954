"""What holds on the mock, does it hold on the real app? Knows no training."""
