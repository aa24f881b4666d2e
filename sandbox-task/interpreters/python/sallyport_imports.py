"""Finders of modules: packages that are still being installed, and matplotlib whose figures are shown.

Standard library only.
"""
import importlib
import importlib.util
import os
import sys
import time

INSTALLING = '/usr/local/share/sallyport/installing'
INSTALLED_NAMES = frozenset(('numpy', 'pandas', 'matplotlib', 'requests', 'pip', 'ensurepip'))
INSTALL_LOOK_SECONDS = 0.25
INSTALL_SILENCE_SECONDS = 10


def is_installing():
    """The installation on one machine (local/work-packages.ts) renews its mark; a killed one does not."""
    try:
        return time.time() - os.stat(INSTALLING).st_mtime < INSTALL_SILENCE_SECONDS
    except OSError:
        return False


class InstallHook:
    """The last finder: a package that is being installed is waited for, as long as the call may run."""

    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] not in INSTALLED_NAMES or not is_installing():
            return None
        while is_installing():
            time.sleep(INSTALL_LOOK_SECONDS)
        importlib.invalidate_caches()
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None


class PyplotHook:
    """Lets `pyplot.show` show, through names that every release of matplotlib has."""

    def __init__(self, show):
        self.show = show

    def find_spec(self, name, path=None, target=None):
        if name != 'matplotlib.pyplot':
            return None
        os.environ.setdefault('MPLBACKEND', 'agg')
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_hook(module):
                load(module)
                module.show = lambda *_, **__: self.show(module)

            spec.loader.exec_module = load_and_hook
        return spec
