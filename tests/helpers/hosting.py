"""A plain host of files, as a published site or a database needs one: it knows no Python, only ranges of bytes."""

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Handler(SimpleHTTPRequestHandler):
    """Answers a request for a file, or for a range of its bytes."""

    protocol_version = "HTTP/1.1"
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript", ".wasm": "application/wasm"}

    def do_GET(self):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not wanted or not self.server.ranges:
            return super().do_GET()
        with open(self.translate_path(self.path), "rb") as file:
            content = file.read()
        first, last = int(wanted[1]), min(int(wanted[2]), len(content) - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        self.wfile.write(content[first : last + 1])

    def log_message(self, _form, *args):
        self.server.asked.append(str(args[0]))


class Host:
    """A host of the files in a folder, on a free port; `asked` are the requests. A context manager."""

    def __init__(self, folder, ranges=True):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
        self.server.ranges, self.server.asked = ranges, []
        self.asked = self.server.asked
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
