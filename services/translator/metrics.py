"""Which numbers does the translator publish beside the runtime's?"""

from prometheus_client import Counter

from services.runtime.metrics import Metric

TEXTS = Metric(
    "tidegate_texts_total", Counter, "Texts answered, by target language and what the cache said.", ("target", "cache")
)
REFUSED = Metric("tidegate_texts_refused_total", Counter, "Texts not translated, by reason.", ("reason",))
SENTENCES = Metric("tidegate_engine_texts_total", Counter, "Texts that the engine translated, by pair.", ("pair",))
PIPELINES = Metric("tidegate_engine_pipelines_opened_total", Counter, "Warm pipelines opened, by mode.", ("mode",))
UNSTORED = Metric("tidegate_cache_stores_dropped_total", Counter, "Answers not sent to a cache that was too slow.")
METRICS = (TEXTS, REFUSED, SENTENCES, PIPELINES, UNSTORED)
