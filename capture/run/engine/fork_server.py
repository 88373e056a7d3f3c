"""A server that has imported torch and forks one process a snippet; executed by the interpreter of the snippets.

Standard library only. It runs no torch operation and asks no device question, so that a fork is safe: the OpenMP pool
and the drivers start in the children alone. The protocol is one JSON object a packet on the socket whose descriptor is
the first argument: `{"id", "script", "work", "env", "seed", "seeded"}` in, with the descriptors of the three standard
streams, `{"id", "pid"}` and then `{"id", "code"}` out, `code` negative for a signal as subprocess has it. It ends when
the socket closes.

A script must find what a new interpreter would give it, down to the frames below its own: logging, warnings, profilers
and torch itself print stacks. So it is run by `PyRun_SimpleFileExFlags`, the function that the interpreter runs
its main script by, in a thread that has no Python frame: the forking thread becomes the child's main thread.
"""

import _thread
import atexit
import contextlib
import ctypes
import gc
import importlib
import importlib.machinery
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
import warnings
import weakref
from typing import Any, Optional  # this file also runs on interpreters older than this tool's

PRELOADS = {
    "profiler": ["torch.profiler"],
    "dynamo": ["torch._dynamo"],
    "inductor": ["torch._inductor.compile_fx"],
}
LARGEST = 1 << 20  # bytes of a request
LIBC = ctypes.CDLL(None)
LIBC.fopen.restype = ctypes.c_void_p


def main() -> None:
    """Serve in another thread, whose only frame is the call that runs a script, until the other end closes.

    ctypes asks the type of each argument to convert it before it makes the call. Converting the first one imports what
    is asked for, waits for requests and forks, and returns in a child alone.
    """
    server = Server(socket.socket(fileno=int(sys.argv[1])))

    class Script:
        @classmethod
        def from_param(cls, value: Any) -> ctypes.c_void_p:
            try:
                server.prepare(sys.argv[2].split(",") if sys.argv[2] else [])
                become(server.serve())
            except BaseException:  # nobody would ever hear of it
                os._exit(1)
            return ctypes.c_void_p(LIBC.fopen(os.fsencode(sys.argv[0]), b"rb"))

    class Name:
        @classmethod
        def from_param(cls, value: Any) -> ctypes.c_char_p:
            return ctypes.c_char_p(os.fsencode(sys.argv[0]))

    run = ctypes.pythonapi.PyRun_SimpleFileExFlags
    run.argtypes = [Script, Name, ctypes.c_int, ctypes.c_void_p]  # type: ignore[list-item]  # both have from_param
    run.restype = end
    _thread.stack_size(int(sys.argv[3]))
    _thread.start_new_thread(run, (None, None, 1, None))  # the 1 closes the file
    while True:  # until the other thread ends this process
        signal.pause()


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
    control.sendall(json.dumps(message).encode())


class Server:
    """Takes requests from a socket, forks a process for each, and reports how it ended."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.running: "dict[int, str]" = {}  # the request of each process
        self.pipe = os.pipe()  # a byte arrives when a child ends
        for descriptor in self.pipe:
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)  # a handler, so that the pipe is written to
        signal.set_wakeup_fd(self.pipe[1], warn_on_full_buffer=False)

    def prepare(self, preloads: "list[str]") -> None:
        """Import what is asked for and say so; end where that fails.

        It is imported in the thread that scripts will run in: the profiler remembers which one that was.
        """
        gc.disable()  # importing makes next to no garbage, and looking for it takes a fifth of the time
        failure = preload(preloads)
        if failure is None:
            settle()
        modules = sorted({name.partition(".")[0] for name in sys.modules})
        # From 3.13 on a process that was forked by another thread than the first cannot finalize its interpreter.
        exits = sys.version_info < (3, 13)
        send(self.control, {"ready": failure is None, "failure": failure, "modules": modules, "exits": exits})
        if failure is not None:
            os._exit(0)

    def serve(self) -> "dict[str, Any]":
        """Fork a process for each request and report each end; return in the children alone, with the request."""
        selector = selectors.DefaultSelector()
        selector.register(self.control, selectors.EVENT_READ)
        selector.register(self.pipe[0], selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is self.control:
                    job = self.take()
                    if job is not None:
                        selector.close()
                        return job
                else:
                    os.read(self.pipe[0], 4096)
            self.reap()

    def take(self) -> "Optional[dict[str, Any]]":
        """Take one request and fork its process; return the request in that process."""
        data, descriptors, _, _ = socket.recv_fds(self.control, LARGEST, 3)
        if not data:
            for pid in self.running:  # nobody is left who could end them
                with contextlib.suppress(OSError):
                    os.killpg(pid, signal.SIGKILL)
            os._exit(0)  # taking apart what was imported would keep the client waiting
        job: "dict[str, Any]" = json.loads(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that this process has two threads; the other one only waits
            pid = os.fork()
        if pid == 0:
            for descriptor, stream in zip(descriptors, (0, 1, 2)):  # noqa: B905  # for Python 3.9
                os.dup2(descriptor, stream)
        for descriptor in descriptors:
            os.close(descriptor)
        if pid == 0:
            signal.set_wakeup_fd(-1)
            for descriptor in self.pipe:
                os.close(descriptor)
            self.control.close()
            return job
        self.running[pid] = job["id"]
        send(self.control, {"id": job["id"], "pid": pid})
        return None

    def reap(self) -> None:
        """Report every child that has ended; orphans that nobody asked about are only waited for."""
        while True:
            try:
                pid, state = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            name = self.running.pop(pid, None)
            if name is not None:
                code = -os.WTERMSIG(state) if os.WIFSIGNALED(state) else os.WEXITSTATUS(state)
                send(self.control, {"id": name, "code": code})


def become(job: "dict[str, Any]") -> None:
    """Turn this forked child into what a fresh interpreter with the script would be."""
    os.setsid()
    gc.enable()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(job["env"])
    time.tzset()
    os.chdir(job["work"])
    sys.argv = [job["script"]]
    if hasattr(sys, "orig_argv"):  # from Python 3.10 on
        sys.orig_argv = [*sys.orig_argv[: sys.orig_argv.index(__file__)], job["script"]]
    sys.path[0] = os.path.dirname(job["script"])
    reseed(job["seed"], job["seeded"])
    module = types.ModuleType("__main__")
    loader = importlib.machinery.BuiltinImporter
    module.__dict__.update(__loader__=loader, __annotations__={}, __builtins__=sys.modules["builtins"])
    sys.modules["__main__"] = module
    if sys.version_info < (3, 12):  # there the limit on recursion counts the call from C that runs the script
        ctypes.pythonapi.Py_LeaveRecursiveCall()


def reseed(seed: Optional[int], seeded: "list[str]") -> None:
    """Give the child its own random state: siblings that share one would agree where fresh ones would not.

    A seed that the header names is given to Python and the named modules, as `seeding/sitecustomize.py` does.
    """
    random.seed(seed)
    if "numpy.random" in sys.modules:
        sys.modules["numpy"].random.seed()
    generator = getattr(sys.modules["torch"], "default_generator", None)
    if generator is not None:
        generator.seed()
    for name in seeded if seed is not None else ():
        module = importlib.import_module(name)
        module.manual_seed(seed) if name == "torch" else module.random.seed(seed)


def end(result: int) -> None:
    """End as the interpreter does: wait for threads, run exit handlers, drop the script's objects, flush.

    Only the rest of its finalization is left out: taking apart what the server imported would take longer than most
    snippets and prints nothing. (A script that ends by SystemExit never comes here; the interpreter does all of it.)
    """
    code = 1 if result else 0
    interrupted = getattr(sys, "last_type", None) is KeyboardInterrupt
    shutdown = getattr(threading, "_shutdown", None)
    if shutdown is not None:
        shutdown()
    with contextlib.suppress(BaseException):  # until Python 3.9 it raises what it has told already
        atexit._run_exitfuncs()
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):  # a traceback keeps objects alive
        sys.__dict__.pop(name, None)
    sys.modules.pop("__main__", None)
    gc.collect()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError, AttributeError):
            code = code or 120  # what the interpreter answers when it cannot write its last words
    LIBC.fflush(None)
    if interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code)


if __name__ == "__main__":
    main()
