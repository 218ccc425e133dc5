"""An OpenAI-compatible endpoint on loopback that answers as a case says, byte for byte.

A case's first request gets `http` (`http_stream` if it asks for a stream and the case has one), later ones `http_next`
in their order, the last for ever; without it a plain closing answer. Parts of a body: text, {"b64": ...},
{"repeat": [text, n]}, {"delay_ms": n}. An answer ends by close, reset or hang. A status of null sends nothing at all.
"""

import base64
import email.utils
import json
import re
import socket
import socketserver
import struct
import threading
import time

USAGE = {"prompt_tokens": 150, "completion_tokens": 6, "total_tokens": 156}
CLOSING = {
    "id": "chatcmpl-closing",
    "object": "chat.completion",
    "created": 1796036448,
    "model": "test-model",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "I am stopping here."}, "finish_reason": "stop"}
    ],
    "usage": USAGE,
}
JSON, EVENTS = {"Content-Type": "application/json"}, {"Content-Type": "text/event-stream"}


def streamed(answer):
    """The same answer for a client that asked for a stream; what is no completion stays as it is."""
    try:
        whole = json.loads(answer["body"])
        choices = whole["choices"]
    except (KeyError, TypeError, ValueError):
        return answer
    if answer["status"] != 200 or not choices:
        return answer
    head = {"id": whole["id"], "object": "chat.completion.chunk", "model": whole["model"]}
    events = []
    for c in choices:
        delta = dict(c["message"])
        if delta.get("tool_calls"):
            delta["tool_calls"] = [{"index": i, **call} for i, call in enumerate(delta["tool_calls"])]
        for d, reason in ((delta, None), ({}, c["finish_reason"])):
            events.append(head | {"choices": [{"index": c["index"], "delta": d, "finish_reason": reason}]})
    if "usage" in whole:
        events.append(head | {"choices": [], "usage": whole["usage"]})
    chunks = [f"data: {json.dumps(e)}\n\n" for e in events]
    return {"status": 200, "headers": EVENTS, "chunks": [*chunks, "data: [DONE]\n\n"]}


class Endpoint:
    """Serves the case that it was given last. `requests` are those of that case: when, what, streamed or not."""

    def __init__(self):
        self.lock = threading.Lock()
        self.case, self.requests = None, []
        endpoint = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                endpoint._handle(self)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, request, client_address):
                """A client that goes away in the middle is one of the things that are tried."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        self.over = threading.Event()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def serve(self, case):
        with self.lock:
            self.case, self.requests = case, []

    def close(self):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()

    def _handle(self, h):
        headers = {}
        h.rfile.readline()
        for line in iter(h.rfile.readline, b"\r\n"):
            if not line:
                return
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        body = json.loads(h.rfile.read(int(headers.get("content-length", 0))))
        stream = bool(body.get("stream"))
        with self.lock:
            case, n = self.case, len(self.requests)
            self.requests.append({"at": time.monotonic(), "body": body, "stream": stream})
        if n == 0:
            answer = case["http_stream"] if stream and "http_stream" in case else case["http"]
        else:
            later = case.get("http_next") or [{"status": 200, "headers": JSON, "body": json.dumps(CLOSING)}]
            answer = later[min(n, len(later)) - 1]
            if stream:
                answer = streamed(answer)
        self._answer(h, answer, headers.get("authorization", ""))

    def _answer(self, h, answer, authorization):
        def filled(text):
            text = re.sub(
                r"\{\{http_date\(([+-]\d+)\)\}\}",
                lambda m: email.utils.formatdate(time.time() + int(m[1]), usegmt=True),
                text,
            )
            return text.replace("{{echo_authorization}}", authorization)

        def parts(body):
            for p in [body] if isinstance(body, str) else body:
                if isinstance(p, str):
                    yield filled(p).encode("utf-8", "surrogatepass")
                elif "b64" in p:
                    yield base64.b64decode(p["b64"])
                elif "repeat" in p:
                    text, times = p["repeat"]
                    for at in range(0, times, 1 << 16):
                        yield text.encode() * min(1 << 16, times - at)
                elif "delay_ms" in p:
                    self.over.wait(p["delay_ms"] / 1000)

        chunked = "chunks" in answer
        end = answer.get("end") or "close"
        if answer["status"] is not None:
            headers = {k: filled(v) for k, v in answer["headers"].items()} | {"Connection": "close"}
            if chunked:
                headers["Transfer-Encoding"] = "chunked"
            elif end != "close":
                headers["Content-Length"] = "100000"
            elif isinstance(answer["body"], str):
                headers["Content-Length"] = str(len(b"".join(parts(answer["body"]))))
            head = f"HTTP/1.1 {answer['status']} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items())
            h.wfile.write(head.encode("latin-1") + b"\r\n")
            for piece in parts(answer["chunks"] if chunked else answer["body"]):
                h.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            if chunked and end == "close":
                h.wfile.write(b"0\r\n\r\n")
        if end == "hang":
            self.over.wait(600)
        if end == "reset":
            h.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            h.connection.close()
