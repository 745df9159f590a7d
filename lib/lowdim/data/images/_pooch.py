"""pooch, imported without the complaint that its progress bar makes in a notebook.

pooch takes its bar from ``tqdm.auto``, which warns when ipywidgets are missing. We never show that
bar, and a warning on standard error would end up on a page.
"""

import warnings

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message="IProgress not found")
    import pooch

__all__ = ["pooch"]
