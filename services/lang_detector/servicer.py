"""How is a request for detection answered? Each text by itself, in the order in which they came."""

import asyncio
from dataclasses import dataclass
from itertools import count
from typing import Any

from prometheus_client import Counter
from tidegate.detection.v1 import detection_pb2 as pb
from tidegate.detection.v1.detection_pb2_grpc import DetectionServiceServicer

from services.lang_detector.detect import Detection, Detector
from services.runtime.call import annotate
from services.runtime.errors import bad_request
from services.runtime.metrics import Meter, Metric
from services.runtime.texts import request_violations

DETECTIONS = Metric(
    "tidegate_detections_total",
    Counter,
    "Texts whose language was asked for, by answer (und: undetermined).",
    ("language", "reliable"),
)
METRICS = (DETECTIONS,)
TEXTS_A_TURN = 64


@dataclass(slots=True)
class DetectionServicer(DetectionServiceServicer):
    """DetectionService over one detector."""

    detector: Detector
    meter: Meter

    async def DetectLanguage(self, request: pb.DetectLanguageRequest, _context: Any) -> pb.DetectLanguageResponse:
        """The language of each text. Between batches of texts the loop gets to serve other calls."""
        if violations := request_violations(request.contents, request.mime_type):
            raise bad_request(*violations)
        response = pb.DetectLanguageResponse()
        for number, text in zip(count(1), request.contents, strict=False):
            response.detections.append(self._answer(text))
            if number % TEXTS_A_TURN == 0:
                await asyncio.sleep(0)
        annotate(texts=len(request.contents))
        return response

    def _answer(self, text: str) -> pb.Detection:
        found = self.detector.detect(text)
        self.meter[DETECTIONS].labels(found.language, str(found.reliable).lower()).inc()
        return to_message(found)


def to_message(found: Detection) -> pb.Detection:
    """A detection as the contract's message."""
    languages = [
        pb.DetectedLanguage(language_code=candidate.language, confidence=candidate.confidence)
        for candidate in found.candidates
    ]
    return pb.Detection(
        language_code=found.language, confidence=found.confidence, languages=languages, reliable=found.reliable
    )
