"""llama.cpp's HTTP server, out of the xllamacpp wheel.

    llama_server.py MODEL.gguf PORT

One thread, eight slots of 4096 tokens, on 127.0.0.1. The model is called "tiny".
"""

import signal
import sys

import xllamacpp


def main() -> None:
    model, port = sys.argv[1:3]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"tiny"}
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_parallel = 8
    params.n_ctx = 8 * 4096
    params.n_predict = -1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.endpoint_metrics = True
    params.use_jinja = True
    server = xllamacpp.Server(params)
    print("listening on", server.listening_address, flush=True)
    # Signals end the process at once: the server's own threads cannot be joined.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pause()


main()
