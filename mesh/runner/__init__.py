"""The mesh runner: a folder of Istio's documents in, running Envoys out."""
