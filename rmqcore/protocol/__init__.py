"""RocketMQ's remoting protocol without IO: bytes in, events and values out.

`command`, `frames` and `connection` carry requests and responses; `headers` and
`bodies` define their contents; `message` and its neighbours hold the record layout.
Nothing here opens a socket, reads a clock or draws a random number.
"""
