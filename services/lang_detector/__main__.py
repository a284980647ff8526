"""`python -m services.lang_detector`: the process that answers in which language a text is written."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import click
from tidegate.detection.v1.detection_pb2_grpc import add_DetectionServiceServicer_to_server

from services.lang_detector.detect import Detector
from services.lang_detector.model import open_detector
from services.lang_detector.servicer import DetectionServicer
from services.runtime.options import ServiceOptions, service_options
from services.runtime.service import Binding, Runtime, run_service

NAME = "lang-detector"
SERVICE_NAME = "tidegate.detection.v1.DetectionService"
LANGUAGES = "en,es,fr,pt,it,ca"


@click.command(context_settings={"show_default": True})
@service_options
@click.option("--languages", default=LANGUAGES, help="The languages that an answer may name, BCP-47, by commas.")
def main(service: ServiceOptions, languages: str) -> None:
    """Answer which language texts are written in, of the configured ones, or und."""
    try:
        detector = open_detector([code.strip() for code in languages.split(",") if code.strip()])
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--languages") from error
    except FileNotFoundError as error:
        raise click.ClickException(str(error)) from error
    run_service(NAME, service, partial(open_service, detector))


@asynccontextmanager
async def open_service(detector: Detector, runtime: Runtime) -> AsyncIterator[Sequence[Binding]]:
    """DetectionService over an opened detector."""
    servicer = DetectionServicer(detector, runtime.meter)
    yield [Binding(SERVICE_NAME, partial(add_DetectionServiceServicer_to_server, servicer))]


if __name__ == "__main__":
    main()
