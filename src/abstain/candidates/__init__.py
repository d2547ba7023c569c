"""Other machines than ours, with Chow's rule: how each is made, what is tuned, and the choice among several."""
