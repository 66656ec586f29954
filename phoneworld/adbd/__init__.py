"""A phone's side of adb over any Device: codec, shell, services. Does not know which Device."""
