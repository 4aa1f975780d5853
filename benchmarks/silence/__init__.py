"""Compare what pages show while brokers and name servers are silent with the truth."""
