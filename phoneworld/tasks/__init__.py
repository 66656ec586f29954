"""Goals on mock phones: what is asked, from where, when it is reached, and the proof that the question is a good one. No policy in here."""
