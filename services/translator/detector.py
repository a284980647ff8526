"""In which language is each text, when the caller did not say?

Asked of the lang-detector service. Without its answer nothing can be translated, so here a detector that is away is an
error of the whole call.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import grpc
from tidegate.detection.v1 import detection_pb2

from services.runtime.errors import unavailable

GIVE_SOURCE = "give source_language_code to translate without detection"


class Detector(Protocol):
    """Names languages."""

    async def detect(self, texts: Sequence[str]) -> list[str]:
        """One tag a text, in order; "und" where the text does not tell.

        Raises: CallError UNAVAILABLE.
        """


class NoDetector:
    """The process was started without a detector."""

    async def detect(self, texts: Sequence[str]) -> list[str]:
        """Nothing can be detected."""
        raise unavailable(
            f"no language detector is configured for these {len(texts)} texts; {GIVE_SOURCE}",
            reason="DETECTOR_NOT_CONFIGURED",
        )


@dataclass(frozen=True, slots=True)
class LangDetector:
    """The lang-detector service; `stub` is a generated DetectionServiceStub."""

    stub: Any

    async def detect(self, texts: Sequence[str]) -> list[str]:
        """One tag a text."""
        request = detection_pb2.DetectLanguageRequest(contents=texts)
        try:
            response = await self.stub.DetectLanguage(request)
        except grpc.aio.AioRpcError as error:
            raise unavailable(
                f"the language detector cannot be reached ({error.code().name}); {GIVE_SOURCE}",
                reason="DETECTOR_UNAVAILABLE",
            ) from error
        if len(response.detections) != len(texts):
            raise unavailable("the language detector answered for other texts", reason="DETECTOR_UNAVAILABLE")
        return [detection.language_code for detection in response.detections]
