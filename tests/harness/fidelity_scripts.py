"""Small scripts that find out how they are run: what they print must be the same under every engine.

Each is here for a kind of difference that running in a prepared process makes. Those of `WITH_TORCH` need the real one.
"""

from __future__ import annotations

SCRIPTS = {
    "docstring and names": '"""Doc."""\nprint(__doc__, __name__, __package__, __spec__, sorted(globals()))',
    "dir at start": "print(dir(), __annotations__, __builtins__.__name__, type(__loader__).__name__, __cached__)",
    "annotations": "x: int = 3\nprint(__annotations__)",
    "own path": "import os, sys\nprint(os.path.isabs(__file__), sys.argv == [__file__], sys.path[0] == os.getcwd())",
    "original arguments": "import os, sys\nprint([os.path.basename(word) for word in sys.orig_argv[1:]])",
    "no frame below": "import sys\nprint(sys._getframe().f_back, sys._getframe().f_code.co_name)",
    "stack as text": "import traceback\ndef f():\n    print(*traceback.format_stack())\nf()",
    "stack to stderr": "import traceback\ntraceback.print_stack()",
    "extracted stack": "import traceback\nprint(len(traceback.extract_stack()), len(traceback.StackSummary.extract("
    "traceback.walk_stack(None))))",
    "inspected stack": "import inspect\nprint([frame.function for frame in inspect.stack()])",
    "stack in a log": "import logging\nlogging.basicConfig(format='%(message)s')\nlogging.warning('w', stack_info=True)",
    "level of a warning": "import warnings\ndef f():\n    warnings.warn('deep', stacklevel=2)\nf()\n"
    "warnings.warn('beyond', stacklevel=9)",
    "warning once": "import warnings\nfor _ in range(3):\n    warnings.warn('again')",
    "filters of warnings": "import warnings\nprint([(f[0], f[2].__name__) for f in warnings.filters])",
    "deep recursion": "def f(n):\n    return f(n + 1)\nf(0)",
    "depth of recursion": "d = 0\ndef f():\n    global d\n    d += 1\n    f()\ntry:\n    f()\nexcept RecursionError as e:\n"
    "    print(d, e)",
    "recursion through C": "d = 0\nclass A:\n    def __repr__(self):\n        global d\n        d += 1\n        return repr([self])\n"
    "try:\n    repr(A())\nexcept RecursionError:\n    print(d)",
    "limit of recursion": "import sys\nprint(sys.getrecursionlimit())\nsys.setrecursionlimit(120)\ndef f():\n    f()\nf()",
    "faulthandler's stack": "import faulthandler, sys\nsys.stderr.flush()\nprint(faulthandler.is_enabled())",
    "chained errors": "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise ValueError('v') from error",
    "error with a note": "e = ValueError('v')\ne.add_note('note')\nraise e",
    "exception group": "raise ExceptionGroup('g', [ValueError(1), TypeError(2)])",
    "own hook for errors": "import sys\nsys.excepthook = lambda *a: print('hook', a[0].__name__)\nraise KeyError('k')",
    "syntax error": "def f(:\n    pass",
    "tab error": "if True:\n        x = 1\n\ty = 2",
    "null byte": "print('a')\n\0",
    "declared encoding": "# -*- coding: latin-1 -*-\nprint(ascii('\\xe9'))",
    "future import": "from __future__ import annotations\ndef f(x: Y): pass\nprint(f.__annotations__)",
    "exit by a word": "import sys\nprint('out')\nsys.exit('words')",
    "exit by a number": "raise SystemExit(41)",
    "exit within a function": "def f():\n    try:\n        exit(3)\n    finally:\n        print('finally')\nf()",
    "hard exit": "import os\nprint('kept')\nos._exit(9)",
    "keyboard interrupt": "raise KeyboardInterrupt('stop')",
    "interrupted by itself": "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)",
    "ended by a signal": "import os, signal\nprint('up')\nos.kill(os.getpid(), signal.SIGTERM)",
    "alarm": "import signal, time\nsignal.signal(signal.SIGALRM, lambda *a: print('alarm'))\nsignal.alarm(1)\ntime.sleep(2)",
    "handlers of signals": "import signal\nprint([(s.name, str(signal.getsignal(s))) for s in signal.valid_signals() "
    "if isinstance(s, signal.Signals)][:40])",
    "order at exit": "import atexit, sys\natexit.register(print, 'first in')\natexit.register(print, 'last in')\nprint('body')",
    "exit handler that fails": "import atexit\natexit.register(lambda: 1 / 0)\nprint('body')",
    "finalizer": "import weakref\nclass A: pass\na = A()\nweakref.finalize(a, print, 'final')\nprint('body')",
    "destructor": "NAME = 'global'\nclass A:\n    def __del__(self):\n        print('freed', NAME, __name__)\na = A()",
    "destructors in a circle": "class A:\n    def __del__(self):\n        print('freed', self.n)\nx, y = A(), A()\nx.n, y.n = 1, 2\n"
    "x.o, y.o = y, x",
    "destructor after an error": "class A:\n    def __del__(self):\n        print('freed')\na = A()\nraise ValueError(1)",
    "destructor of a frame": "class A:\n    def __del__(self):\n        print('freed')\ndef f():\n    a = A()\n    raise ValueError(1)\nf()",
    "generator left open": "def g():\n    try:\n        yield 1\n    finally:\n        print('closed')\nx = g()\nnext(x)",
    "main thread": "import threading\nt = threading.current_thread()\nprint(t.name, t is threading.main_thread(), "
    "threading.active_count(), t.daemon, t.is_alive())",
    "threads that outlive the body": "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), print('late')))"
    ".start()\nprint('body')",
    "error in a thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='worker')\nt.start()\nt.join()",
    "pool": "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as p:\n"
    "    print(list(p.map(abs, [-1, 2])))",
    "event loop": "import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return 7\nprint(asyncio.run(f()))",
    "unraisable": "class A:\n    def __del__(self):\n        raise ValueError('lost')\nA()",
    "log at import": "import logging\nlogging.getLogger('x').warning('last resort')\nprint(logging.root.handlers)",
    "environment": "import os\nprint(sorted(n for n in os.environ if n not in ('CAPTURE_EXECUTION',)))",
    "variables of C": "import ctypes, os\nos.environ['A_B'] = 'c'\nlibc = ctypes.CDLL(None)\nlibc.getenv.restype = ctypes.c_char_p\n"
    "print(libc.getenv(b'A_B'))",
    "hash of text": "print(hash('a') % 997, {'fp16', 'bf16', 'fp32'})",
    "pickled class": "import pickle\nclass T: pass\nprint(type(pickle.loads(pickle.dumps(T()))).__module__)",
    "standard input": "import sys\nprint(sys.stdin.name, sys.stdin.mode, repr(sys.stdin.read()), sys.stdin.encoding, sys.stdin.errors)\ninput()",
    "standard streams": "import sys\nprint([(s.name, s.mode, s.encoding, s.errors, s.line_buffering, s.write_through, s.isatty()) "
    "for s in (sys.stdout, sys.stderr)])",
    "kind of stream": "import os, stat\nprint([stat.S_ISFIFO(os.fstat(n).st_mode) for n in (1, 2)])",
    "no seeking": "import sys\ntry:\n    sys.stdout.buffer.raw.seek(0)\nexcept Exception as error:\n    print(type(error).__name__, error)",
    "stream opened anew": "print('a')\nopen('/dev/stdout', 'w').write('b\\n')\nprint('c')",
    "stream opened by another": "import os\nprint('a', flush=True)\nos.system('echo b > /dev/stderr; echo c > /dev/stdout')\nprint('d')",
    "stream of C": "import ctypes\nctypes.CDLL(None).printf(b'of C\\n')\nprint('of Python')",
    "stdout closed": "import sys\nprint('a')\nsys.stdout.close()",
    "descriptor closed": "import os\nos.close(1)\nprint('nowhere')",
    "stderr replaced": "import io, sys\nsys.stderr = io.StringIO()\nraise ValueError('unseen')",
    "not valid text": "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe\\n')\nprint('\\udcff'.encode('utf-8', 'surrogateescape'))",
    "bar by returns": "for n in range(3):\n    print(f'\\r{n * 50} %', end='')\nprint()",
    "bar by backspaces": "for n in range(3):\n    print('\\b\\b\\b' * bool(n) + f'{n * 50:3}', end='')\nprint()",
    "bar by erasing": "for n in range(3):\n    print(f'\\x1b[2K\\rstep {n}', end='')\nprint()",
    "bar by moving up": "print('a')\nprint('b')\nprint('\\x1b[2A\\x1b[Ka2')\nprint('b2')",
    "bar with a spinner": "for c in '|/-\\\\':\n    print(f'\\r{c} busy', end='')\nprint('\\rdone  ')",
    "children of spawn": "import multiprocessing as m\ndef f(n): return n * 2\nif __name__ == '__main__':\n"
    "    with m.get_context('spawn').Pool(1) as p:\n        print(p.map(f, [1, 2]))",
    "child by fork": "import os, sys\nsys.stdout.flush()\nif not os.fork():\n    print('child', flush=True)\n    os._exit(0)\n"
    "os.wait()\nprint('parent')",
    "seeded random": "import random\nrandom.seed(3)\nprint(random.random())",
    "working folder": "import os\nprint(sorted(os.listdir('.')))\nopen('x', 'w').write('y')\nprint(sorted(os.listdir('.')))",
    "temporary folder": "import os, tempfile\nprint(os.listdir(tempfile.gettempdir()))",
    "collector": "import gc\nprint(gc.isenabled(), gc.get_threshold(), gc.get_debug())",
    "tracing": "import sys\nprint(sys.gettrace(), sys.getprofile())",
    "flags": "import sys\nprint(sys.flags, sys.warnoptions, sys._xoptions)",
    "import of itself": "import importlib, sys\nname = sys.argv[0].rpartition('/')[2][:-3]\nif __name__ == '__main__':\n"
    "    importlib.import_module(name)\nprint(__name__)",
    "locale": "import locale, time\nprint(locale.getpreferredencoding(), time.tzname, locale.setlocale(locale.LC_ALL))",
    "umask and limits": "import os, resource\nos.umask(m := os.umask(0))\nprint(m, resource.getrlimit(resource.RLIMIT_CORE))",
    "session": "import os\nprint(os.getsid(0) == os.getpid(), os.getpgrp() == os.getpid(), os.nice(0))",
    "waiting for children": "import os\ntry:\n    os.waitpid(-1, os.WNOHANG)\nexcept ChildProcessError as e:\n    print(e)",
}
WITH_TORCH = {
    "threads set before the import": "import os\nos.environ['OMP_NUM_THREADS'] = '1'\nimport torch\nprint(torch.get_num_threads())",
    "switch set before the import": "import os\nos.environ['PYTORCH_JIT'] = '0'\nimport torch\n"
    "print(type(torch.jit.script(lambda x: x)).__name__)",
    "seeded": "import torch\ntorch.manual_seed(0)\nprint(torch.rand(3))",
    "seed after the start": "import torch\ng = torch.Generator()\nprint(g.initial_seed(), torch.rand(2, generator=g))",
    "anomaly": "import torch\nx = torch.tensor([-1.0], requires_grad=True)\nwith torch.autograd.detect_anomaly():\n"
    "    y = torch.sqrt(x)\n    y.sum().backward()",
    "profiled with stack": "import torch\nfrom torch.profiler import profile\nwith profile(with_stack=True) as p:\n"
    "    torch.ones(3).sum()\nprint(sorted({f for e in p.events() for f in e.stack}))",
    "threads between operations": "import torch\ntorch.set_num_interop_threads(1)\nprint(torch.get_num_interop_threads())",
    "error of torch": "import torch\ntorch.ones(2) @ torch.ones(3)",
    "default type": "import torch\ntorch.set_default_dtype(torch.float64)\nprint(torch.ones(1).dtype)",
    "modules after the import": "import sys, torch\nprint(len(sys.modules))",
    "workers": "import torch\nfrom torch.utils.data import DataLoader\nif __name__ == '__main__':\n"
    "    print([b.tolist() for b in DataLoader(range(4), batch_size=2, num_workers=1)])",
    "parallel sum": "import torch\nprint(torch.ones(1 << 20).sum().item())",
}
