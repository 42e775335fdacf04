"""Stands in for `belljar host`, and misbehaves as its argument says."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def greet(protocol: int = 1) -> None:
    request = json.loads(sys.stdin.readline())
    send({"id": request["id"], "result": {"protocol": protocol, "version": "0", "servers": []}})


def run() -> Any:
    return json.loads(sys.stdin.readline())["id"]


def succeed(id: Any) -> None:
    outcome = {"ok": True, "value": 1, "logs": [], "calls": [], "usage": {}, "error": None}
    send({"id": id, "result": outcome})


how = sys.argv[2]
if how == "no-greeting":
    print("cannot read the settings", file=sys.stderr)
    sys.exit(7)
elif how == "old":
    greet(protocol=0)
    sys.stdin.read()
elif how == "refuses":
    request = json.loads(sys.stdin.readline())
    send({"id": request["id"], "error": {"code": -32602, "message": "protocol 1 is too new"}})
    sys.stdin.read()
greet()
if how == "deaf":
    # Reads nothing more, and does not end when its stdin does.
    time.sleep(600)
id = run()
if how == "dies":
    print("out of luck\nat line 3", file=sys.stderr)
    sys.stderr.flush()
    os._exit(3)
elif how == "killed":
    os.kill(os.getpid(), 9)
elif how == "junk":
    print("Hello!", flush=True)
elif how == "array":
    print("[]", flush=True)
elif how == "deep":
    print("[" * 200_000, flush=True)
elif how == "long":
    os.write(1, b'"' + b"x" * (17 << 20))
elif how == "no-outcome":
    send({"id": id, "result": {"value": 1}})
elif how == "odd-id":
    send({"id": [], "method": "call", "params": {"run": id, "function": "f"}})
elif how == "neither":
    send({"id": id})
elif how == "closes-stdout":
    os.close(1)
elif how == "busy":
    send({"id": id, "error": {"code": -32000, "message": "too many runs"}})
elif how == "ending":
    send({"id": id, "error": {"code": -32001, "message": "belljar is ending"}})
elif how == "too-long":
    send({"id": id, "error": {"code": -32003, "message": "the outcome is above 16 MiB"}})
    succeed(run())
elif how == "loses-logs":
    send({"method": "log", "params": {"run": id, "level": "log", "text": "a"}})
    send({"method": "log", "params": {"run": id, "level": "log", "text": "d", "lost": 2}})
    succeed(id)
elif how == "strangers":
    # Messages that this client does not know, or no longer knows, do no harm.
    send({"method": "news", "params": {}})
    send({"id": "q", "method": "question", "params": {}})
    send({"method": "log", "params": {"run": 999, "level": "log", "text": "lost"}})
    send({"method": "cancel", "params": {"id": "c999"}})
    send({"id": 999, "result": {}})
    send({"id": "c1", "method": "call", "params": {"run": 999, "namespace": "a", "tool": "b"}})
    send({"id": "c2", "method": "call", "params": {"run": id, "namespace": "a", "tool": "none"}})
    answers = [json.loads(sys.stdin.readline()) for _ in range(3)]
    value = {answer["id"]: answer["error"]["message"] for answer in answers}
    outcome: dict[str, Any] = {"ok": True, "value": value, "logs": [], "calls": [], "usage": {}}
    send({"id": id, "result": {**outcome, "error": None, "news": 1}})
sys.stdin.read()
time.sleep(600 if how == "stays" else 0)
