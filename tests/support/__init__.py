"""What tests share: free ports, child processes, a real Apache RocketMQ."""
