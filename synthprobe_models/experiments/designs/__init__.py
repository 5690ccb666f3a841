"""Design spaces compared by the distribution of the errors of networks sampled from them."""
