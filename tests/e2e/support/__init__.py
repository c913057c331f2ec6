"""What the end-to-end tests are made of: the gateway's process, workers of several kinds, clients."""
