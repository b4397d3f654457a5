"""A server that speaks OpenAI's chat protocol on this machine, with faults by plan.

The answer to a text is TRUE or FALSE by its digest, so that two runs agree. A fault befalls the first call about a
text, by its digest too, and the next call is answered; GET tells how often each text was asked and what befell.
"""

import hashlib
import json
import select
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LEVELS = 1000  # of which a fault's share is told
FAULTS = ("429", "500", "hang", "broken")
BEFORE = "Is 2 an even number?"  # asked once before a run, and never befallen


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, plan: dict[str, Any]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan = plan
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.befell: Counter[str] = Counter()
        self.now = self.most = 0
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        s = self.server
        self.reply(200, {"asked": dict(s.asked), "answered": dict(s.answered), "befell": dict(s.befell),
                         "most_at_once": s.most})  # fmt: skip

    def do_POST(self) -> None:
        row = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        s, plan = self.server, self.server.plan
        with s.lock:
            s.now += 1
            s.most = max(s.most, s.now)
        try:
            self.answer(row, s, plan)
        finally:
            with s.lock:
                s.now -= 1

    def answer(self, row: dict[str, Any], s: Server, plan: dict[str, Any]) -> None:
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if plan.get("key") and key != plan["key"]:
            return self.fault(401, f"Incorrect API key provided: {key}")
        if plan.get("model") and row["model"] != plan["model"]:
            return self.fault(404, f"The model {row['model']} does not exist")
        if plan.get("no_logprobs") == "refused" and row.get("logprobs"):
            return self.fault(400, "logprobs are not supported by this model")
        text = row["messages"][-1]["content"]
        digest = hashlib.sha256(text.encode()).digest()
        place = hashlib.sha256(text.encode()).hexdigest()[:16]
        with s.lock:
            s.asked[place] += 1
            first = s.asked[place] == 1
        level = int.from_bytes(digest[4:8], "big") % LEVELS
        for name in FAULTS if (first or plan.get("always")) and not text.startswith(BEFORE) else ():
            level -= plan.get(name, 0)
            if level < 0:
                with s.lock:
                    s.befell[name] += 1
                return self.befall(name, key)
        time.sleep(plan.get("delay", 0.0))
        said = "TRUE" if digest[0] < 128 else "FALSE"
        if plan.get("odd") and digest[1] < plan["odd"]:
            said = "Well, that is hard to tell."
        likely = ((said, -0.25), ("FALSE", -1.75), ("TRUE", -2.0))
        top = [{"token": token, "logprob": logprob, "bytes": None} for token, logprob in likely]
        choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": said},
                                  "finish_reason": "stop"}  # fmt: skip
        if row.get("logprobs") and not plan.get("no_logprobs"):
            choice["logprobs"] = {"content": [{"token": said, "logprob": -0.25, "bytes": None, "top_logprobs": top}]}
        with s.lock:
            s.answered[place] += 1
        self.reply(200, {"id": "x", "object": "chat.completion", "created": 0, "model": row["model"],
                         "choices": [choice],
                         "usage": {"prompt_tokens": 50, "completion_tokens": 1, "total_tokens": 51}})  # fmt: skip

    def befall(self, name: str, key: str) -> None:
        if name == "hang":
            # readable is a connection that its client has closed: nobody waits for that call any more
            select.select([self.connection], [], [], self.server.plan.get("hang_seconds", 30))
            self.close_connection = True
        elif name == "broken":
            self.reply(200, b'{"id": "x", "choices": [{"mess')
        else:
            self.fault(int(name), f"this call with the key {key} is one too many", {"Retry-After": "0.05"})

    def fault(self, status: int, said: str, headers: dict[str, str] | None = None) -> None:
        self.reply(status, {"error": {"message": said, "type": "fault", "code": str(status)}}, headers)

    def reply(self, status: int, content: Any, headers: dict[str, str] | None = None) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in (
            {"Content-Type": "application/json", "Content-Length": str(len(body))} | (headers or {})
        ).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(**plan: Any) -> Iterator[str]:
    """The base URL of a server in a process of its own."""
    process = subprocess.Popen([sys.executable, __file__, json.dumps(plan)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def stats(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url) as reply:
        return json.loads(reply.read())


if __name__ == "__main__":
    server = Server(json.loads(sys.argv[1]))
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()
