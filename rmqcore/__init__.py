"""RocketMQ in Python: protocol, clients, allocation, name server and broker.

The packages, from the bottom up: `errors`, `model`, `protocol` (bytes in, events out),
`store` / `offsets` / `allocation`, `transport` (asyncio), `nameserver` / `broker` /
`admin` / `client`, `cluster` (all of these in one process), `labs`.
"""
