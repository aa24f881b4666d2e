# Written by generate_sync.py from the module of the same name in _async.
