"""The server behind Toolwright when the official conformance suite tests it, on standard streams.

    conformance_server.py               revision 2025-11-25: a handshake, and requests to the client
    conformance_server.py --stateless   revision 2026-07-28: no handshake, and questions as results

The suite talks to Toolwright, which passes on what this server offers (`conformance_tools.py`): so
the suite tests how Toolwright passes on a server that does everything right. Standard library only.

    line ─▶ Server.receive ─▶ a thread per request ─▶ Server.answer ─▶ run ─▶ tool or prompt
                  └─ response of the client ─▶ the call that waits for it
"""

import base64
import datetime
import hashlib
import hmac
import inspect
import itertools
import json
import secrets
import sys
import threading
import uuid

import conformance_tools as offered
from conformance_tools import PROMPTS, TASK, TOOLS, RpcError

META = "io.modelcontextprotocol/"
TASKS = META + "tasks"
MODERN = "2026-07-28"
HANDSHAKE = ["2025-11-25", "2025-06-18"]
INFO = {"name": "conformance-fixture", "version": "1.0.0"}
INSTRUCTIONS = "A fixture: every tool does what its name says."
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
# Short, so that every list has several pages.
PAGE = 20
CAPABILITY_OF = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


class Cancelled(Exception):
    """The client does not want the answer any more."""


class Suspended(Exception):
    """The call ends for now, with questions as its result."""


class BecomesTask(Exception):
    """The rest of the call is a task."""


def not_found(what="Method"):
    return RpcError(-32601, f"{what} not found")


def missing(capabilities):
    data = {"requiredCapabilities": capabilities}
    return RpcError(-32021, "Missing required client capability", data)


def run(call, function):
    """The result of a tool or prompt; see the header of `conformance_tools.py`."""
    outcome = function(call)
    if not inspect.isgenerator(outcome):
        return outcome
    value = None
    while True:
        try:
            value = call.perform(outcome.send(value))
        except StopIteration as end:
            return end.value
        except BecomesTask:
            return call.server.start_task(call, outcome)


class Call:
    """One request for a tool or a prompt. Subclasses ask the client in their own way."""

    def __init__(self, server, request, given):
        params = request.get("params") or {}
        self.server, self.id, self.params, self.given = server, request["id"], params, given
        self.meta = params.get("_meta") or {}
        self.cancelled = threading.Event()

    def perform(self, step):
        if step is TASK:
            return None
        if isinstance(step, dict):
            return self.ask(step)
        if self.cancelled.wait(step):
            raise Cancelled
        return None

    def check_capabilities(self, requests):
        needed = {CAPABILITY_OF[request["method"]]: {} for request in requests.values()}
        if lacking := {name: {} for name in needed if name not in self.capabilities}:
            raise missing(lacking)

    def progress(self, done, total):
        if "progressToken" in self.meta:
            params = {"progressToken": self.meta["progressToken"], "progress": done, "total": total}
            self.server.notify("progress", params)

    def log(self, level, data):
        if self.log_level and LEVELS.index(level) >= LEVELS.index(self.log_level):
            self.server.notify("message", {"level": level, "logger": "fixture", "data": data})

    def notify_change(self, what, uri=None):
        self.server.notify_change(what, uri)


class HandshakeCall(Call):
    """Asks by requests, and waits."""

    @property
    def capabilities(self):
        return self.server.client_capabilities

    @property
    def log_level(self):
        return self.server.level

    def ask(self, requests):
        self.check_capabilities(requests)
        waiting = {key: self.server.send_request(request) for key, request in requests.items()}
        answers = {}
        for key, (identity, arrived) in waiting.items():
            while not arrived.wait(0.05):
                if self.cancelled.is_set():
                    raise Cancelled
            response = self.server.responses.pop(identity)
            error = response.get("error")
            answers[key] = (
                RpcError(error["code"], error["message"], error.get("data")) if error else response["result"]
            )
        return answers


class StatelessCall(Call):
    """Asks by ending the call. The client calls again with the answers, and with the state that
    holds earlier answers: then the tool runs from its beginning, and every question that has an
    answer is skipped."""

    def __init__(self, server, request, given):
        super().__init__(server, request, given)
        self.capabilities = self.meta[META + "clientCapabilities"]
        self.log_level = self.meta.get(META + "logLevel")
        self.knows_tasks = TASKS in self.capabilities.get("extensions", {})
        self.tool = TOOLS.get(self.params["name"]) if request["method"] == "tools/call" else None
        self.subject = [request["method"], self.params["name"]]
        self.answered = server.open_state(self.params.get("requestState"), self.subject)
        self.rounds = iter(list(self.answered))

    def perform(self, step):
        if step is not TASK:
            return super().perform(step)
        if self.knows_tasks:
            raise BecomesTask
        if self.tool.needs_task:
            raise missing({"extensions": {TASKS: {}}})
        return None

    def ask(self, requests):
        known = next(self.rounds, None)
        if known is not None:
            return known
        self.check_capabilities(requests)
        given = self.params.pop("inputResponses", None)
        given = given if isinstance(given, dict) else {}
        answers = {key: given[key] for key in requests if isinstance(given.get(key), dict)}
        if len(answers) == len(requests):
            self.answered.append(answers)
            return answers
        result = {"resultType": "input_required", "inputRequests": requests}
        if self.answered or self.tool and self.tool.has_state:
            result["requestState"] = self.server.seal_state(self.subject, self.answered)
        raise Suspended(result)


class Task:
    """The rest of a call, in a thread of its own. Its questions wait for `tasks/update`."""

    def __init__(self, call, generator):
        self.id, self.status, self.questions, self.answers, self.end = str(uuid.uuid4()), "working", {}, {}, {}
        self.created = self.updated = now()
        self.changed, self.is_cancelled = threading.Condition(), False
        threading.Thread(target=self.work, args=(call, generator), daemon=True).start()

    def work(self, _call, generator):
        value = None
        while True:
            try:
                value = self.perform(generator.send(value))
            except StopIteration as end:
                return self.settle("completed", result={"resultType": "complete", **end.value})
            except RpcError as error:
                return self.settle("failed", error=error.error)
            except Cancelled:
                return self.settle("cancelled")

    def perform(self, step):
        with self.changed:
            if not isinstance(step, dict):
                self.changed.wait_for(lambda: self.is_cancelled, step)
            else:
                self.status, self.questions, self.answers = "input_required", dict(step), {}
                self.changed.wait_for(lambda: self.is_cancelled or not self.questions)
                self.status = "working"
            if self.is_cancelled:
                raise Cancelled
            return self.answers

    def settle(self, status, **end):
        with self.changed:
            self.status, self.end, self.questions, self.updated = status, end, {}, now()

    def update(self, responses):
        with self.changed:
            for key in [key for key in responses if key in self.questions]:
                del self.questions[key]
                self.answers[key] = responses[key]
            self.updated = now()
            self.changed.notify_all()

    def cancel(self):
        with self.changed:
            self.is_cancelled = True
            self.changed.notify_all()
            # A task that has ended stays as it is.
            self.status = "cancelled" if self.status in ("working", "input_required") else self.status

    def summary(self):
        return {
            "taskId": self.id,
            "status": self.status,
            "createdAt": self.created,
            "lastUpdatedAt": self.updated,
            "ttlMs": 300000,
            "pollIntervalMs": 100,
        }

    def detail(self):
        with self.changed:
            asked = {"inputRequests": dict(self.questions)} if self.questions else {}
            return self.summary() | asked | self.end


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat()


class Server:
    """What both kinds have in common: messages on standard streams, lists, resources and
    completions."""

    capabilities = {
        "tools": {"listChanged": True},
        "prompts": {"listChanged": True},
        "resources": {"subscribe": True},
        "completions": {},
        "logging": {},
    }
    resource_not_found = -32602
    call_kind = Call

    def __init__(self):
        self.writing = threading.Lock()
        self.calls, self.responses, self.arrivals = {}, {}, {}

    def send(self, message):
        with self.writing:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def notify(self, method, params):
        self.send({"method": f"notifications/{method}", "params": params})

    def receive(self, message):
        if "method" not in message:
            self.responses[message["id"]] = message
            if arrived := self.arrivals.pop(message["id"], None):
                arrived.set()
        elif "id" in message:
            threading.Thread(target=self.serve, args=(message,), daemon=True).start()
        elif message["method"] == "notifications/cancelled":
            self.cancel(message["params"].get("requestId"))

    def cancel(self, identity):
        if call := self.calls.get(identity):
            call.cancelled.set()

    def serve(self, request):
        try:
            result = self.answer(request, request["method"], request.get("params") or {})
            if result is not None:
                self.send({"id": request["id"], "result": self.finish(request["method"], result)})
        except RpcError as error:
            self.send({"id": request["id"], "error": error.error})
        except Cancelled:
            pass
        except Exception as error:
            self.send({"id": request["id"], "error": {"code": -32603, "message": repr(error)}})

    def finish(self, _method, result):
        return result

    def answer(self, request, method, params):
        """The result of a method that both kinds have; `None` for a request that stays open."""
        if listed := offered.lists(method):
            return self.page(*listed, params.get("cursor"))
        if method == "tools/call":
            return self.call(request, TOOLS, params, params.get("arguments") or {})
        if method == "prompts/get":
            given = params.get("arguments") or {}
            needed = PROMPTS[params["name"]].arguments if params["name"] in PROMPTS else ()
            if lacking := [name for name in needed if name not in given]:
                raise RpcError(-32602, f"Missing arguments: {', '.join(lacking)}")
            return self.call(request, PROMPTS, params, given)
        if method == "resources/read":
            if contents := offered.read(params["uri"]):
                return {"contents": [contents]}
            raise RpcError(self.resource_not_found, "Resource not found", {"uri": params["uri"]})
        if method == "completion/complete":
            begun = params["argument"]["value"]
            values = [value for value in offered.COMPLETIONS if value.startswith(begun)]
            return {"completion": {"values": values, "total": len(values), "hasMore": False}}
        raise not_found()

    def page(self, member, items, cursor):
        first = int(cursor or 0)
        more = {"nextCursor": str(first + PAGE)} if len(items) > first + PAGE else {}
        return {member: items[first : first + PAGE], **more}

    def call(self, request, table, params, given):
        if params["name"] not in table:
            raise RpcError(-32602, f"Unknown name: {params['name']}")
        call = self.calls[request["id"]] = self.call_kind(self, request, given)
        try:
            return run(call, table[params["name"]].run)
        except Suspended as suspended:
            return suspended.args[0]
        finally:
            self.calls.pop(request["id"], None)


class HandshakeServer(Server):
    """Revision 2025-11-25."""

    resource_not_found = -32002
    call_kind = HandshakeCall

    def __init__(self):
        super().__init__()
        self.client_capabilities, self.level, self.subscribed = {}, "info", set()
        self.numbers = itertools.count(1)

    def send_request(self, request):
        """Sends a request. Returns its id and the event that is set when the response has
        arrived."""
        identity = f"fixture-{next(self.numbers)}"
        self.arrivals[identity] = arrived = threading.Event()
        self.send({"id": identity, **request})
        return identity, arrived

    def answer(self, request, method, params):
        if method == "initialize":
            self.client_capabilities = params["capabilities"]
            asked = params["protocolVersion"]
            return {
                "protocolVersion": asked if asked in HANDSHAKE else HANDSHAKE[0],
                "capabilities": self.capabilities,
                "serverInfo": INFO,
                "instructions": INSTRUCTIONS,
            }
        if method == "ping":
            return {}
        if method == "logging/setLevel":
            self.level = params["level"]
            return {}
        if method == "resources/subscribe":
            self.subscribed.add(params["uri"])
            return {}
        if method == "resources/unsubscribe":
            self.subscribed.discard(params["uri"])
            return {}
        return super().answer(request, method, params)

    def notify_change(self, what, uri):
        if uri is None or uri in self.subscribed:
            self.notify(what, {} if uri is None else {"uri": uri})


class StatelessServer(Server):
    """Revision 2026-07-28 with the extension for tasks."""

    capabilities = Server.capabilities | {"extensions": {TASKS: {}}}
    call_kind = StatelessCall
    cacheable = {"server/discover", "resources/read"}
    # The members of a subscription filter, by the notification that they are for.
    filters = {"tools/list_changed": "toolsListChanged", "prompts/list_changed": "promptsListChanged"}

    def __init__(self):
        super().__init__()
        self.key = secrets.token_bytes(32)
        self.tasks, self.listeners = {}, {}

    def answer(self, request, method, params):
        if method == "initialize":
            data = {"supported": [MODERN], "requested": str(params.get("protocolVersion"))}
            raise RpcError(-32022, "Unsupported protocol version", data)
        self.check_meta(params.get("_meta") or {})
        if method == "server/discover":
            found = {"supportedVersions": [MODERN], "capabilities": self.capabilities}
            return found | {"instructions": INSTRUCTIONS}
        if method == "subscriptions/listen":
            return self.listen(request["id"], params["notifications"])
        if method in ("tasks/get", "tasks/update", "tasks/cancel"):
            return self.answer_task(method, params)
        return super().answer(request, method, params)

    def check_meta(self, meta):
        lacking = [name for name in ("protocolVersion", "clientCapabilities") if META + name not in meta]
        if lacking:
            raise RpcError(-32602, f"Missing in _meta: {', '.join(lacking)}")
        if meta[META + "protocolVersion"] != MODERN:
            data = {"supported": [MODERN], "requested": meta[META + "protocolVersion"]}
            raise RpcError(-32022, "Unsupported protocol version", data)

    def finish(self, method, result):
        meta = {"_meta": {META + "serverInfo": INFO, **result.get("_meta", {})}}
        is_cacheable = method.endswith("/list") or method in self.cacheable
        hints = {"ttlMs": 1000, "cacheScope": "private"} if is_cacheable else {}
        return {"resultType": "complete", **hints, **result, **meta}

    # State: answers that the client keeps for the server, signed.

    def seal_state(self, subject, answered):
        body = base64.urlsafe_b64encode(json.dumps([subject, answered, secrets.token_hex(4)]).encode())
        return f"{body.decode()}.{self.signature(body)}"

    def open_state(self, state, subject):
        if state is None:
            return []
        body, _, signature = state.rpartition(".")
        if not hmac.compare_digest(signature, self.signature(body.encode())):
            raise RpcError(-32602, "The request state is not one of this server")
        sealed_subject, answered, _ = json.loads(base64.urlsafe_b64decode(body))
        if sealed_subject != subject:
            raise RpcError(-32602, "The request state belongs to another request")
        return answered

    def signature(self, body):
        return hmac.new(self.key, body, hashlib.sha256).hexdigest()

    # Subscriptions: requests that stay open until the client cancels them.

    def listen(self, identity, wanted):
        honored = {name: True for name in self.filters.values() if wanted.get(name)}
        if uris := wanted.get("resourceSubscriptions"):
            honored["resourceSubscriptions"] = uris
        self.notify_listener(identity, "subscriptions/acknowledged", {"notifications": honored})
        self.listeners[identity] = honored
        return None

    def notify_listener(self, identity, what, params):
        self.notify(what, params | {"_meta": {META + "subscriptionId": identity}})

    def notify_change(self, what, uri):
        for identity, honored in list(self.listeners.items()):
            if uri is None and honored.get(self.filters.get(what)):
                self.notify_listener(identity, what, {})
            if uri in honored.get("resourceSubscriptions", []):
                self.notify_listener(identity, what, {"uri": uri})

    def cancel(self, identity):
        self.listeners.pop(identity, None)
        super().cancel(identity)

    # Tasks.

    def start_task(self, call, generator):
        task = Task(call, generator)
        self.tasks[task.id] = task
        return {"resultType": "task", **task.summary()}

    def answer_task(self, method, params):
        if TASKS not in params["_meta"][META + "clientCapabilities"].get("extensions", {}):
            raise missing({"extensions": {TASKS: {}}})
        task = self.tasks.get(params.get("taskId"))
        if task is None:
            raise RpcError(-32602, "Unknown task")
        if method == "tasks/get":
            return task.detail()
        if method == "tasks/update":
            task.update(params["inputResponses"])
        else:
            task.cancel()
        return {}


def main():
    server = StatelessServer() if "--stateless" in sys.argv[1:] else HandshakeServer()
    for line in sys.stdin:
        server.receive(json.loads(line))


main()
