"""Talks to a running belljar daemon: python3 client.py SOCKET, with the path that `belljar daemon status` shows."""

import json
import socket
import sys


class Daemon:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.lines = self.socket.makefile("r", encoding="utf-8", newline="\n")
        self.last = 0
        self.request("hello", protocol=1)

    def request(self, method, **params):
        """Asks, and waits for the answer. Several requests may run at once; this client sends one after the other."""
        self.last += 1
        request = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.socket.sendall((json.dumps(request) + "\n").encode())
        line = self.lines.readline()
        if not line:
            raise ConnectionError(f"the daemon ended before it had answered {method!r}")
        answer = json.loads(line)
        if "error" in answer:
            error = answer["error"]
            raise RuntimeError(f"{error['message']} ({error['code']})")
        return answer["result"]


daemon = Daemon(sys.argv[1])
for server in daemon.request("servers", start=True)["servers"]:
    print(f"{server['name']}: {server['state']}, {server.get('tools', 0)} tools")

called = daemon.request("call", tool="demo.get_issue", arguments={"id": 40})
print("call:", called["value"]["title"])

executed = daemon.request("execute", code="const { projects } = await demo.list_projects({}); return projects.length")
print("execute:", executed["answer"]["value"])
