"""Small scripts that find out how they are run: what they print must be the same under every engine.

Each is here for a kind of difference that running in a prepared process makes. Those of `WITH_TORCH` need the real one.
"""

from __future__ import annotations

SCRIPTS = {
    "docstring and names": r'''
"""Doc."""
print(__doc__, __name__, __package__, __spec__, sorted(globals()))
''',
    "dir at start": r"""
print(dir(), __annotations__, __builtins__.__name__, type(__loader__).__name__, __cached__)
""",
    "annotations": r"""
x: int = 3
print(__annotations__)
""",
    "own path": r"""
import os, sys
print(os.path.isabs(__file__), sys.argv == [__file__], sys.path[0] == os.getcwd())
""",
    "original arguments": r"""
import os, sys
print([os.path.basename(word) for word in sys.orig_argv[1:]])
""",
    "no frame below": r"""
import sys
print(sys._getframe().f_back, sys._getframe().f_code.co_name)
""",
    "stack as text": r"""
import traceback
def f():
    print(*traceback.format_stack())
f()
""",
    "stack to stderr": r"""
import traceback
traceback.print_stack()
""",
    "extracted stack": r"""
import traceback
print(len(traceback.extract_stack()), len(traceback.StackSummary.extract(traceback.walk_stack(None))))
""",
    "inspected stack": r"""
import inspect
print([frame.function for frame in inspect.stack()])
""",
    "stack in a log": r"""
import logging
logging.basicConfig(format='%(message)s')
logging.warning('w', stack_info=True)
""",
    "level of a warning": r"""
import warnings
def f():
    warnings.warn('deep', stacklevel=2)
f()
warnings.warn('beyond', stacklevel=9)
""",
    "warning once": r"""
import warnings
for _ in range(3):
    warnings.warn('again')
""",
    "filters of warnings": r"""
import warnings
print([(f[0], f[2].__name__) for f in warnings.filters])
""",
    "deep recursion": r"""
def f(n):
    return f(n + 1)
f(0)
""",
    "depth of recursion": r"""
d = 0
def f():
    global d
    d += 1
    f()
try:
    f()
except RecursionError as e:
    print(d, e)
""",
    "recursion through C": r"""
d = 0
class A:
    def __repr__(self):
        global d
        d += 1
        return repr([self])
try:
    repr(A())
except RecursionError:
    print(d)
""",
    "limit of recursion": r"""
import sys
print(sys.getrecursionlimit())
sys.setrecursionlimit(120)
def f():
    f()
f()
""",
    "faulthandler's stack": r"""
import faulthandler, sys
sys.stderr.flush()
print(faulthandler.is_enabled())
""",
    "chained errors": r"""
try:
    1 / 0
except ZeroDivisionError as error:
    raise ValueError('v') from error
""",
    "error with a note": r"""
e = ValueError('v')
e.add_note('note')
raise e
""",
    "exception group": r"""
raise ExceptionGroup('g', [ValueError(1), TypeError(2)])
""",
    "own hook for errors": r"""
import sys
sys.excepthook = lambda *a: print('hook', a[0].__name__)
raise KeyError('k')
""",
    "syntax error": r"""
def f(:
    pass
""",
    "tab error": "if True:\n        x = 1\n\ty = 2\n",
    "null byte": "print('a')\n\x00\n",
    "declared encoding": r"""
# -*- coding: latin-1 -*-
print(ascii('\xe9'))
""",
    "future import": r"""
from __future__ import annotations
def f(x: Y): pass
print(f.__annotations__)
""",
    "exit by a word": r"""
import sys
print('out')
sys.exit('words')
""",
    "exit by a number": r"""
raise SystemExit(41)
""",
    "exit within a function": r"""
def f():
    try:
        exit(3)
    finally:
        print('finally')
f()
""",
    "hard exit": r"""
import os
print('kept')
os._exit(9)
""",
    "keyboard interrupt": r"""
raise KeyboardInterrupt('stop')
""",
    "interrupted by itself": r"""
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep(5)
""",
    "ended by a signal": r"""
import os, signal
print('up')
os.kill(os.getpid(), signal.SIGTERM)
""",
    "alarm": r"""
import signal, time
signal.signal(signal.SIGALRM, lambda *a: print('alarm'))
signal.setitimer(signal.ITIMER_REAL, 0.05)
time.sleep(0.1)
""",
    "handlers of signals": r"""
import signal
print([(s.name, str(signal.getsignal(s))) for s in signal.valid_signals() if isinstance(s, signal.Signals)][:40])
""",
    "order at exit": r"""
import atexit, sys
atexit.register(print, 'first in')
atexit.register(print, 'last in')
print('body')
""",
    "exit handler that fails": r"""
import atexit
atexit.register(lambda: 1 / 0)
print('body')
""",
    "finalizer": r"""
import weakref
class A: pass
a = A()
weakref.finalize(a, print, 'final')
print('body')
""",
    "destructor": r"""
NAME = 'global'
class A:
    def __del__(self):
        print('freed', NAME, __name__)
a = A()
""",
    "destructors in a circle": r"""
class A:
    def __del__(self):
        print('freed', self.n)
x, y = A(), A()
x.n, y.n = 1, 2
x.o, y.o = y, x
""",
    "destructor after an error": r"""
class A:
    def __del__(self):
        print('freed')
a = A()
raise ValueError(1)
""",
    "destructor of a frame": r"""
class A:
    def __del__(self):
        print('freed')
def f():
    a = A()
    raise ValueError(1)
f()
""",
    "generator left open": r"""
def g():
    try:
        yield 1
    finally:
        print('closed')
x = g()
next(x)
""",
    "main thread": r"""
import threading
t = threading.current_thread()
print(t.name, t is threading.main_thread(), threading.active_count(), t.daemon, t.is_alive())
""",
    "threads that outlive the body": r"""
import threading, time
threading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()
print('body')
""",
    "error in a thread": r"""
import threading
t = threading.Thread(target=lambda: 1 / 0, name='worker')
t.start()
t.join()
""",
    "pool": r"""
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as p:
    print(list(p.map(abs, [-1, 2])))
""",
    "event loop": r"""
import asyncio
async def f():
    await asyncio.sleep(0.01)
    return 7
print(asyncio.run(f()))
""",
    "unraisable": r"""
class A:
    def __del__(self):
        raise ValueError('lost')
A()
""",
    "log at import": r"""
import logging
logging.getLogger('x').warning('last resort')
print(logging.root.handlers)
""",
    "environment": r"""
import os
print(sorted(n for n in os.environ if n not in ('CAPTURE_EXECUTION',)))
""",
    "variables of C": r"""
import ctypes, os
os.environ['A_B'] = 'c'
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
print(libc.getenv(b'A_B'))
""",
    "hash of text": r"""
print(hash('a') % 997, {'fp16', 'bf16', 'fp32'})
""",
    "pickled class": r"""
import pickle
class T: pass
print(type(pickle.loads(pickle.dumps(T()))).__module__)
""",
    "standard input": r"""
import sys
print(sys.stdin.name, sys.stdin.mode, repr(sys.stdin.read()), sys.stdin.encoding, sys.stdin.errors)
input()
""",
    "standard streams": r"""
import sys
for s in (sys.stdout, sys.stderr):
    print(s.name, s.mode, s.encoding, s.errors, s.line_buffering, s.write_through, s.isatty())
""",
    "kind of stream": r"""
import os, stat
print([stat.S_ISFIFO(os.fstat(n).st_mode) for n in (1, 2)])
""",
    "no seeking": r"""
import sys
try:
    sys.stdout.buffer.raw.seek(0)
except Exception as error:
    print(type(error).__name__, error)
""",
    "stream opened anew": r"""
print('a')
open('/dev/stdout', 'w').write('b\n')
print('c')
""",
    "stream opened by another": r"""
import os
print('a', flush=True)
os.system('echo b > /dev/stderr; echo c > /dev/stdout')
print('d')
""",
    "stream of C": r"""
import ctypes
ctypes.CDLL(None).printf(b'of C\n')
print('of Python')
""",
    "stdout closed": r"""
import sys
print('a')
sys.stdout.close()
""",
    "descriptor closed": r"""
import os
os.close(1)
print('nowhere')
""",
    "stderr replaced": r"""
import io, sys
sys.stderr = io.StringIO()
raise ValueError('unseen')
""",
    "not valid text": r"""
import sys
sys.stdout.buffer.write(b'\xff\xfe\n')
print('\udcff'.encode('utf-8', 'surrogateescape'))
""",
    "bar by returns": r"""
for n in range(3):
    print(f'\r{n * 50} %', end='')
print()
""",
    "bar by backspaces": r"""
for n in range(3):
    print('\b\b\b' * bool(n) + f'{n * 50:3}', end='')
print()
""",
    "bar by erasing": r"""
for n in range(3):
    print(f'\x1b[2K\rstep {n}', end='')
print()
""",
    "bar by moving up": r"""
print('a')
print('b')
print('\x1b[2A\x1b[Ka2')
print('b2')
""",
    "bar with a spinner": r"""
for c in '|/-\\':
    print(f'\r{c} busy', end='')
print('\rdone  ')
""",
    "children of spawn": r"""
import multiprocessing as m
def f(n): return n * 2
if __name__ == '__main__':
    with m.get_context('spawn').Pool(1) as p:
        print(p.map(f, [1, 2]))
""",
    "child by fork": r"""
import os, sys
sys.stdout.flush()
if not os.fork():
    print('child', flush=True)
    os._exit(0)
os.wait()
print('parent')
""",
    "seeded random": r"""
import random
random.seed(3)
print(random.random())
""",
    "working folder": r"""
import os
print(sorted(os.listdir('.')))
open('x', 'w').write('y')
print(sorted(os.listdir('.')))
""",
    "temporary folder": r"""
import os, tempfile
print(os.listdir(tempfile.gettempdir()))
""",
    "collector": r"""
import gc
print(gc.isenabled(), gc.get_threshold(), gc.get_debug())
""",
    "tracing": r"""
import sys
print(sys.gettrace(), sys.getprofile())
""",
    "flags": r"""
import sys
print(sys.flags, sys.warnoptions, sys._xoptions)
""",
    "import of itself": r"""
import importlib, sys
name = sys.argv[0].rpartition('/')[2][:-3]
if __name__ == '__main__':
    importlib.import_module(name)
print(__name__)
""",
    "locale": r"""
import locale, time
print(locale.getpreferredencoding(), time.tzname, locale.setlocale(locale.LC_ALL))
""",
    "umask and limits": r"""
import os, resource
os.umask(m := os.umask(0))
print(m, resource.getrlimit(resource.RLIMIT_NOFILE))
""",
    "session": r"""
import os
print(os.getsid(0) == os.getpid(), os.getpgrp() == os.getpid(), os.nice(0))
""",
    "waiting for children": r"""
import os
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError as e:
    print(e)
""",
}
WITH_TORCH = {
    "threads set before the import": r"""
import os
os.environ['OMP_NUM_THREADS'] = '1'
import torch
print(torch.get_num_threads())
""",
    "switch set before the import": r"""
import os
os.environ['PYTORCH_JIT'] = '0'
import torch
print(type(torch.jit.script(lambda x: x)).__name__)
""",
    "seeded": r"""
import torch
torch.manual_seed(0)
print(torch.rand(3))
""",
    "seed after the start": r"""
import torch
g = torch.Generator()
print(g.initial_seed(), torch.rand(2, generator=g))
""",
    "anomaly": r"""
import torch
x = torch.tensor([-1.0], requires_grad=True)
with torch.autograd.detect_anomaly():
    y = torch.sqrt(x)
    y.sum().backward()
""",
    "profiled with stack": r"""
import torch
from torch.profiler import profile
with profile(with_stack=True) as p:
    torch.ones(3).sum()
print(sorted({f for e in p.events() for f in e.stack}))
""",
    "threads between operations": r"""
import torch
torch.set_num_interop_threads(1)
print(torch.get_num_interop_threads())
""",
    "error of torch": r"""
import torch
torch.ones(2) @ torch.ones(3)
""",
    "default type": r"""
import torch
torch.set_default_dtype(torch.float64)
print(torch.ones(1).dtype)
""",
    "modules after the import": r"""
import sys, torch
print(len(sys.modules))
""",
    "workers": r"""
import torch
from torch.utils.data import DataLoader
if __name__ == '__main__':
    print([b.tolist() for b in DataLoader(range(4), batch_size=2, num_workers=1)])
""",
    "parallel sum": r"""
import torch
print(torch.ones(1 << 20).sum().item())
""",
}
