"""A server that has imported torch and forks one process a snippet; executed by the interpreter of the snippets.

Standard library only. It runs no torch operation and asks no device question, so that a fork is safe: the OpenMP pool
and the drivers start in the children alone. The protocol is one JSON object a line on the socket whose descriptor is
the first argument: `{"id", "script", "work", "env", "stdin", "stdout", "stderr"}` in, `{"id", "pid"}` and then
`{"id", "code", "cpu"}` out, `code` negative for a signal as subprocess has it. It ends when the socket closes.
"""

import atexit
import contextlib
import gc
import importlib
import importlib.machinery
import io
import json
import os
import random
import selectors
import signal
import socket
import sys
import threading
import time
import types
import weakref
from typing import Any, Optional  # this file also runs on interpreters older than this tool's

PRELOADS = {
    "profiler": ["torch.profiler"],
    "dynamo": ["torch._dynamo"],
    "inductor": ["torch._inductor.compile_fx"],
}


def main() -> None:
    """Import what is asked for, say so, then serve until the other end closes."""
    control = socket.socket(fileno=int(sys.argv[1]))
    gc.disable()  # importing makes next to no garbage, and looking for it takes a fifth of the time
    failure = preload(sys.argv[2].split(",") if sys.argv[2] else [])
    if failure is None:
        settle()
    send(control, {"ready": failure is None, "failure": failure})
    job = serve(control) if failure is None else None
    if job is not None:  # this is a child
        become(job)
    os._exit(0)  # taking apart what was imported would keep the client waiting


def preload(names: "list[str]") -> Optional[str]:
    """Import torch and the named parts of it; return why that failed, or None."""
    try:
        importlib.import_module("torch")
        for name in names:
            for module in PRELOADS[name]:
                importlib.import_module(module)
    except BaseException as error:  # whatever it is, the client falls back to fresh interpreters
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return None


def settle() -> None:
    """Keep the children from walking over what was imported, which would copy every page of it."""
    gc.freeze()
    for finalizer in list(getattr(weakref.finalize, "_registry", ())):
        finalizer.atexit = False  # torch's undo its operator libraries one by one, which prints nothing


def send(control: socket.socket, message: "dict[str, Any]") -> None:
    """Send one message."""
    control.sendall(json.dumps(message).encode() + b"\n")


def serve(control: socket.socket) -> "Optional[dict[str, Any]]":
    """Fork a process for each request and report each end; return the request in a child, None when all is done."""
    wake, waker = os.pipe()
    for descriptor in (wake, waker):
        os.set_blocking(descriptor, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)  # a handler, so that the descriptor below is written to
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    running: "dict[int, str]" = {}
    pending = b""
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    selector.register(wake, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is control:
                data = control.recv(1 << 16)
                if not data:
                    for pid in running:  # nobody is left who could end them
                        with contextlib.suppress(OSError):
                            os.killpg(pid, signal.SIGKILL)
                    return None
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    job: "dict[str, Any]" = json.loads(line)
                    pid = os.fork()
                    if pid == 0:
                        selector.close()
                        signal.set_wakeup_fd(-1)
                        os.close(wake)
                        os.close(waker)
                        control.close()
                        return job
                    running[pid] = job["id"]
                    send(control, {"id": job["id"], "pid": pid})
            else:
                os.read(wake, 4096)
        reap(control, running)


def reap(control: socket.socket, running: "dict[int, str]") -> None:
    """Report every child that has ended; orphans that nobody asked about are only waited for."""
    while True:
        try:
            pid, state, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        name = running.pop(pid, None)
        if name is not None:
            code = -os.WTERMSIG(state) if os.WIFSIGNALED(state) else os.WEXITSTATUS(state)
            send(control, {"id": name, "code": code, "cpu": usage.ru_utime + usage.ru_stime})


def become(job: "dict[str, Any]") -> None:
    """Turn this forked child into what a fresh interpreter with the script would be, and run it."""
    os.setsid()
    gc.enable()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    replace_descriptor(job["stdin"], os.O_RDONLY, 0)
    replace_descriptor(job["stdout"], os.O_WRONLY | os.O_APPEND, 1)
    replace_descriptor(job["stderr"], os.O_WRONLY | os.O_APPEND, 2)
    os.environ.clear()
    os.environ.update(job["env"])
    time.tzset()
    os.chdir(job["work"])
    sys.argv = [job["script"]]
    sys.path[0] = os.path.dirname(job["script"])
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    reseed()
    end(run_as_main(job["script"]))


def end(code: Any) -> None:
    """End as the interpreter does: wait for threads, run exit handlers, drop the script's objects, flush.

    Only the rest of its finalization is left out: taking apart what the server imported would take longer than most
    snippets and prints nothing.
    """
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    shutdown = getattr(threading, "_shutdown", None)
    if shutdown is not None:
        shutdown()
    atexit._run_exitfuncs()
    sys.modules["__main__"].__dict__.clear()
    gc.collect()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError, AttributeError):
            code = code or 120  # what the interpreter answers when it cannot write its last words
    os._exit((code or 0) & 0xFF)


def replace_descriptor(path: str, flags: int, descriptor: int) -> None:
    """Let a standard descriptor refer to a file."""
    opened = os.open(path, flags)
    os.dup2(opened, descriptor)
    os.close(opened)


def reseed() -> None:
    """Give the child its own random state: siblings that share one would agree where fresh ones would not."""
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None and "numpy.random" in sys.modules:
        numpy.random.seed()


def run_as_main(script: str) -> Any:
    """Run the script as `__main__` and return its exit code; a traceback shows only frames of its own."""
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=script, __cached__=None, __builtins__=__builtins__)
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", script)
    sys.modules["__main__"] = module
    try:
        with open(script, "rb") as file:
            code = compile(file.read(), script, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        sys.excepthook(type(error), error.with_traceback(None), None)
        return 1
    try:
        exec(code, module.__dict__)
    except SystemExit as error:
        return error.code
    except BaseException as error:
        shown = error.__traceback__.tb_next if error.__traceback__ else None
        sys.excepthook(type(error), error.with_traceback(shown), shown)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


if __name__ == "__main__":
    main()
