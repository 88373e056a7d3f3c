"""A setting lets a capture reuse blocks that two streams used; a snapshot tells if it is on."""

import textwrap

import torch

FLAG = "graph_capture_record_stream_reuse"


def in_snapshot():
    """Return what the allocator itself says, not what it was told."""
    try:
        settings = torch.cuda.memory._snapshot()["allocator_settings"]
    except Exception as error:
        return type(error).__name__, "-"
    return str(settings.get(FLAG, "no such key")), settings["PYTORCH_CUDA_ALLOC_CONF"]


def told(text):
    try:
        torch._C._accelerator_setAllocatorSettings(text)
    except Exception as error:
        return f"{type(error).__name__}: {textwrap.shorten(str(error), 40, placeholder=' ...')}"
    return "accepted"


print(f"cuda available {torch.cuda.is_available()}, built for CUDA {torch.version.cuda}")
print(f"flag before anything is set: {in_snapshot()[0]}")
steps = {
    "set to True": f"{FLAG}:True",
    "another key alone": "max_split_size_mb:64",
    "flag set to 1": f"{FLAG}:1",
    "set to False": f"{FLAG}:False",
    "key misspelled": "graph_capture_reuse:True",
}
print(f"{'step':24s}{'flag':16s}answer")
for name, text in steps.items():
    answer = told(text)
    flag, last = in_snapshot()
    print(f"{name:24s}{flag:16s}{answer}")
print(f"the snapshot shows as last text: {last}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.9"]
#
# [tool.capture]
# title = "graph_capture_record_stream_reuse, as the allocator reads it"
#
# [tool.capture.values]
# before = 'anything is set: (\w+)'
# set_true = '^set to True +(\w+)'
# other_key = '^another key alone +(\w+)'
# set_one = '^flag set to 1 +\w+ +(\w+)'
# set_false = '^set to False +(\w+)'
# misspelled = '^key misspelled +\w+ +(\w+)'
# last_text = 'as last text: (\S+)'
#
# [tool.capture.claims.off-until-set]
# says  = "a CUDA build reports the flag off until it is set, then on, then off again"
# holds = 'before == "False" and set_true == "True" and set_false == "False"'
# where = 'build == "cuda" and torch >= "2.13"'
#
# [tool.capture.claims.another-key-leaves-it]
# says  = "setting another key does not reset the flag"
# holds = 'other_key == "True"'
# where = 'build == "cuda" and torch >= "2.13"'
#
# [tool.capture.claims.a-cuda-build-checks]
# says  = "a CUDA build refuses a misspelled key, and 1 in place of True"
# holds = 'misspelled == "ValueError" and set_one == "ValueError"'
# where = 'build == "cuda" and torch >= "2.13"'
#
# [tool.capture.claims.a-refused-text-is-kept]
# says  = "the snapshot shows the text that was refused as the last setting"
# holds = 'last_text == "graph_capture_reuse:True"'
# where = 'build == "cuda" and torch >= "2.13"'
#
# [tool.capture.claims.a-cpu-build-accepts-anything]
# says  = "a CPU build accepts even a misspelled key, and has no snapshot to check it by"
# holds = 'misspelled == "accepted" and before == "AttributeError"'
# where = 'build == "cpu"'
# ///
