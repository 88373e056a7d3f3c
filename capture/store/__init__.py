"""Paths and YAML; no other module imports yaml."""

from capture.store.cache import VARIABLE as CACHE_VARIABLE
from capture.store.cache import Cache, digest
from capture.store.file_stamps import footprint_of, stamp_of
from capture.store.git_index import (
    DifferingFile,
    committed_bytes,
    differing,
    stage,
    staged_bytes,
    staged_paths,
    unstage,
)
from capture.store.git_revision import git_paths, merge_base, write_out
from capture.store.git_revision import resolve as resolve_revision
from capture.store.host_lock import held
from capture.store.links import files_below, links
from capture.store.mkdocs_yml import (
    CONFIG,
    Place,
    PythonName,
    SettingPlaces,
    config_line,
    read_front_matter,
    read_located_config,
    read_site_config,
)
from capture.store.open_merges import unmerged
from capture.store.page_history import page_days
from capture.store.paths import CAPTURES, Handbook, find_root, record_ids
from capture.store.records import (
    SIZE_LIMIT,
    UNFORESEEN,
    nearest_line,
    parse_host,
    parse_record,
    read_bytes,
    read_host,
    read_record,
    read_snippets,
    read_text,
    recapture_advice,
    resolve,
    sweep,
    unforeseen,
    write_bytes,
    write_host,
    write_record,
    write_text,
)
from capture.store.yaml_text import host_text, load, record_text

__all__ = [
    "CACHE_VARIABLE",
    "CAPTURES",
    "CONFIG",
    "SIZE_LIMIT",
    "UNFORESEEN",
    "Cache",
    "DifferingFile",
    "Handbook",
    "Place",
    "PythonName",
    "SettingPlaces",
    "committed_bytes",
    "config_line",
    "differing",
    "digest",
    "files_below",
    "find_root",
    "footprint_of",
    "git_paths",
    "held",
    "host_text",
    "links",
    "load",
    "merge_base",
    "nearest_line",
    "page_days",
    "parse_host",
    "parse_record",
    "read_bytes",
    "read_front_matter",
    "read_host",
    "read_located_config",
    "read_record",
    "read_site_config",
    "read_snippets",
    "read_text",
    "recapture_advice",
    "record_ids",
    "record_text",
    "resolve",
    "resolve_revision",
    "stage",
    "staged_bytes",
    "staged_paths",
    "stamp_of",
    "sweep",
    "unforeseen",
    "unmerged",
    "unstage",
    "write_bytes",
    "write_host",
    "write_out",
    "write_record",
    "write_text",
]
