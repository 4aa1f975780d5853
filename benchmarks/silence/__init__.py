"""What pages show while brokers and name servers are silent, beside what is true."""
