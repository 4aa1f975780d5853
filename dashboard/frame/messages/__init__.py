"""How messages are shown wherever they are: places, times, bodies, masks, rights."""
