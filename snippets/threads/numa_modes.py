"""On a made-up machine torch.numa shows to which CPUs each mode binds the process of a device."""

from unittest.mock import patch

from torch.numa import binding

WORD = "device" if hasattr(binding, "_get_device_count") else "gpu"
DEVICES, NODES, CPUS = 8, 4, 32
machine = {  # what torch.numa would read from /sys and from the driver
    f"_get_{WORD}_count": lambda: DEVICES,
    f"_get_numa_node_index_for_{WORD}_index": lambda **index: index[f"{WORD}_index"] // 2,
    "_get_cpu_indices_for_numa_node_MAYBE_NOT_ALLOWED": lambda numa_node_index: set(
        range(8 * numa_node_index, 8 * numa_node_index + 8)
    ),
    "_get_systemwide_numa_node_indices": lambda: set(range(NODES)),
    "_get_socket_index_for_cpu": lambda cpu_index: cpu_index // 16,
    "_get_logical_cpu_indices_sharing_same_physical_core_as": lambda logical_cpu_index: {
        logical_cpu_index
    },
    "_get_logical_cpus_sharing_same_max_level_cache_as": lambda logical_cpu_index: set(
        range(logical_cpu_index // 2 * 2, logical_cpu_index // 2 * 2 + 2)
    ),
}


def cpus(mode, device, allowed):
    options = binding.NumaOptions(affinity_mode=mode)
    names = machine | {"_get_allowed_cpu_indices_for_current_thread": lambda: allowed}
    with patch.multiple(binding, **names):
        found = binding._get_logical_cpus_to_bind_to(
            **{f"{WORD}_index": device}, numa_options=options
        )
    return found, binding._get_ranges_str_from_ints(found)


print(f"made up: 2 sockets, {NODES} NUMA nodes, {CPUS} cores, {DEVICES} devices, 2 cores a cache")
print(f"{'mode':14s}{'device 0':10s}{'device 1':10s}{'device 3':10s}shared with another device")
for mode in binding.AffinityMode:
    sets = [cpus(mode, device, set(range(CPUS))) for device in range(DEVICES)]
    shared = sum(len(found) for found, _ in sets) - len(set().union(*(found for found, _ in sets)))
    row = "".join(f"{sets[device][1]:10s}" for device in (0, 1, 3))
    print(f"{mode.value:14s}{row}{'yes' if shared else 'no'}")
container = set(range(4))
first, fourth = (cpus("node", device, container)[1] or "none" for device in (0, 3))
print(f"node mode in a container of CPUs 0-3: device 0 {first}, device 3 {fourth}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13"]
#
# [tool.capture]
# title = "torch.numa on a made-up machine"
#
# [tool.capture.values]
# node = '^node +(\d+-\d+)'
# socket = '^socket +(\S+)'
# exclusive_0 = '^exclusive +(\S+)'
# exclusive_1 = '^exclusive +\S+ +(\S+)'
# complex_0 = '^core-complex +(\S+)'
# complex_1 = '^core-complex +\S+ +(\S+)'
# container_0 = 'container .* device 0 (\S+),'
# container_3 = 'container .* device 3 (\S+)$'
#
# [tool.capture.claims.two-modes-keep-apart]
# says  = "node mode gives two devices of a node the same CPUs, exclusive mode does not"
# holds = 'node == "0-7" and exclusive_0 == "0-3" and exclusive_1 == "4-7"'
#
# [tool.capture.claims.a-container-may-leave-none]
# says  = "in a container with the CPUs of one node no CPU is left for a device on another"
# holds = 'container_0 == "0-3" and container_3 == "none"'
# ///
