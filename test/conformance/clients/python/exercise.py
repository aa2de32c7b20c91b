"""Calls of a Python client against a hub: `exercise.py MODULE URL`. Prints a line of JSON per check: {"check", "error"?}.

MODULE is `elasticsearch` or `opensearchpy`; the folder of the client is on PYTHONPATH.
"""

import importlib
import json
import sys
import traceback
import warnings
from datetime import datetime, timezone

warnings.simplefilter("ignore")
MODULE, URL = sys.argv[1:3]
library = importlib.import_module(MODULE)
helpers = importlib.import_module(MODULE + ".helpers")
OPENSEARCH = MODULE == "opensearchpy"
MAJOR = 7 if OPENSEARCH else library.__version__[0]
es = library.OpenSearch(URL) if OPENSEARCH else library.Elasticsearch(URL)

LINES = 250
BASE = 1_767_312_000_000
CHECKS = []


def check(since=6, until=99, opensearch=True):
    """Registers a check of the clients from major version `since` to `until`."""

    def register(run):
        if since <= MAJOR <= until and (opensearch or not OPENSEARCH):
            CHECKS.append(run)
        return run

    return register


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"{found!r} instead of {wanted!r}")


def total(answer):
    count = answer["hits"]["total"]
    return count if isinstance(count, int) else count["value"]


def refused(status, call):
    try:
        call()
    except Exception as error:  # The class differs by version.
        equal(getattr(error, "status_code", None) or error.meta.status, status)
        return error
    raise AssertionError(f"not refused with {status}")


def line(n):
    return {
        "n": n,
        "@timestamp": datetime.fromtimestamp((BASE + n * 1000) / 1000, timezone.utc).isoformat(),
        "level": "error" if n % 10 == 0 else "info",
        "message": f"request {n} was answered",
    }


def typed(action):
    return {**action, "_type": "_doc"} if MAJOR == 6 else action


def actions(index, numbers, **more):
    return (typed({"_index": index, "_id": str(n), "_source": line(n), **more}) for n in numbers)


def mappings():
    properties = {
        "n": {"type": "long"},
        "@timestamp": {"type": "date"},
        "level": {"type": "keyword"},
        "message": {"type": "text"},
    }
    return {"_doc": {"properties": properties}} if MAJOR == 6 else {"properties": properties}


@check()
def info():
    answer = es.info()
    equal(bool(answer["version"]["number"]), True)
    equal(es.ping(), True)


@check()
def create_index():
    answer = es.indices.create(
        index="lines", body={"settings": {"number_of_shards": 2}, "mappings": mappings()}
    )
    equal(answer["acknowledged"], True)
    equal(bool(es.indices.exists(index="lines")), True)
    equal(bool(es.indices.exists(index="nothing")), False)
    refused(400, lambda: es.indices.create(index="lines"))


@check()
def streaming_bulk():
    done = [ok for ok, _ in helpers.streaming_bulk(es, actions("lines", range(100)), chunk_size=30)]
    equal(done, [True] * 100)


@check()
def parallel_bulk():
    done = [ok for ok, _ in helpers.parallel_bulk(es, actions("lines", range(100, 200)), thread_count=2)]
    equal(len(done), 100)


@check()
def bulk():
    equal(helpers.bulk(es, actions("lines", range(200, LINES)), refresh=True), (50, []))
    count, failures = helpers.bulk(
        es, actions("lines", range(3), _op_type="create"), raise_on_error=False
    )
    equal((count, [failure["create"]["status"] for failure in failures]), (0, [409] * 3))


@check()
def search():
    answer = es.search(
        index="lines",
        body={
            "query": {"bool": {"must": {"match": {"message": "request"}}, "filter": {"term": {"level": "error"}}}},
            "sort": [{"n": "desc"}],
            "size": 2,
            "aggs": {"levels": {"terms": {"field": "level"}}},
        },
    )
    equal(total(answer), 25)
    equal([hit["_source"] for hit in answer["hits"]["hits"]], [line(240), line(230)])
    equal(answer["aggregations"]["levels"]["buckets"], [{"key": "error", "doc_count": 25}])
    refused(404, lambda: es.search(index="nothing"))
    refused(400, lambda: es.search(index="lines", body={"query": {"foo": {}}}))


@check()
def scan():
    found = [hit["_source"]["n"] for hit in helpers.scan(es, index="lines", size=40)]
    equal(sorted(found), list(range(LINES)))


def walk(point):
    """Numbers of all lines of a point in time, page by page."""
    found = []
    body = {"size": 40, "sort": [{"level": "asc"}, {"n": "asc"}], "pit": {"id": point, "keep_alive": "1m"}}
    while True:
        hits = es.search(body=body)["hits"]["hits"]
        if not hits:
            return found
        found += [hit["_source"]["n"] for hit in hits]
        body["search_after"] = hits[-1]["sort"]


@check(since=7)
def points_in_time():
    if OPENSEARCH:
        point = es.create_pit(index="lines", params={"keep_alive": "1m"})["pit_id"]
        equal(sorted(walk(point)), list(range(LINES)))
        equal([pit["pit_id"] for pit in es.get_all_pits()["pits"]], [point])
        equal(es.delete_pit(body={"pit_id": [point]})["pits"], [{"successful": True, "pit_id": point}])
        equal(es.delete_all_pits()["pits"], [])
        return
    point = es.open_point_in_time(index="lines", keep_alive="1m")["id"]
    equal(sorted(walk(point)), list(range(LINES)))
    parts = [
        [hit["_source"]["n"] for hit in es.search(body={"size": LINES, "slice": {"id": part, "max": 3}, "pit": {"id": point}})["hits"]["hits"]]
        for part in range(3)
    ]
    equal(sorted(sum(parts, [])), list(range(LINES)))
    equal(es.close_point_in_time(body={"id": point})["num_freed"], 1)
    refused(404, lambda: es.search(body={"pit": {"id": point}}))


@check(since=7, opensearch=False)
def async_searches():
    answer = es.async_search.submit(index="lines", body={"size": 1}, keep_on_completion=True, wait_for_completion_timeout="30s")
    equal((answer["is_running"], total(answer["response"])), (False, LINES))
    equal(total(es.async_search.get(id=answer["id"])["response"]), LINES)
    equal(es.async_search.status(id=answer["id"])["completion_status"], 200)
    equal(es.async_search.delete(id=answer["id"])["acknowledged"], True)
    refused(404, lambda: es.async_search.get(id=answer["id"]))


@check(since=7, opensearch=False)
def health_and_threads():
    refused(501, lambda: es.nodes.hot_threads())
    if MAJOR >= 8:
        equal(bool(es.health_report()["indicators"]["disk"]["symptom"]), True)


def document(call, **more):
    return call(index="docs", **({"doc_type": "_doc"} if MAJOR == 6 else {}), **more)


@check()
def documents():
    created = document(es.index, id="1", body={"n": 1, "text": "brown fox"}, refresh="wait_for")
    equal((created["result"], created["_version"]), ("created", 1))
    equal(document(es.update, id="1", body={"doc": {"n": 2}})["result"], "updated")
    equal(
        document(es.update, id="1", body={"script": {"source": "ctx._source.n += 1"}}, refresh=True)["result"],
        "updated",
    )
    equal(document(es.get, id="1")["_source"]["n"], 3)
    equal(document(es.get_source, id="1")["n"], 3)
    equal(bool(document(es.exists, id="1")), True)
    equal(bool(document(es.exists, id="2")), False)
    refused(404, lambda: document(es.get, id="2"))
    refused(409, lambda: document(es.create, id="1", body={}))
    equal([doc["found"] for doc in es.mget(index="docs", body={"docs": [{"_id": "1"}, {"_id": "2"}]})["docs"]], [True, False])
    explained = document(es.explain, id="1", body={"query": {"match": {"text": "fox"}}})
    equal(explained["matched"], True)
    vectors = document(es.termvectors, id="1", body={"fields": ["text"]})
    equal(sorted(vectors["term_vectors"]["text"]["terms"]), ["brown", "fox"])
    equal(len(es.mtermvectors(index="docs", body={"ids": ["1"]}, **({"doc_type": "_doc"} if MAJOR == 6 else {}))["docs"]), 1)
    equal(document(es.delete, id="1")["result"], "deleted")


@check()
def searches():
    answers = es.msearch(body=[{"index": "lines"}, {"size": 0}, {"index": "nothing"}, {}])["responses"]
    equal([total(answers[0]), answers[1]["status"]], [LINES, 404])
    equal(es.count(index="lines", body={"query": {"term": {"level": "error"}}})["count"], 25)
    caps = es.field_caps(index="lines", fields="*")["fields"]
    equal(caps["level"]["keyword"]["aggregatable"], True)
    es.put_script(id="by-level", body={"script": {"lang": "mustache", "source": {"query": {"term": {"level": "{{level}}"}}}}})
    equal(es.get_script(id="by-level")["found"], True)
    template = {"id": "by-level", "params": {"level": "error"}}
    equal(total(es.search_template(index="lines", body=template)), 25)
    equal(es.render_search_template(body=template)["template_output"]["query"], {"term": {"level": "error"}})
    many = es.msearch_template(body=[{"index": "lines"}, template])["responses"]
    equal(total(many[0]), 25)
    es.delete_script(id="by-level")
    if MAJOR > 6 and not OPENSEARCH:
        equal(es.terms_enum(index="lines", body={"field": "level", "string": "e"})["terms"], ["error"])
    tokens = es.indices.analyze(body={"analyzer": "standard", "text": "Two Words"})["tokens"]
    equal([token["token"] for token in tokens], ["two", "words"])
    equal(es.indices.validate_query(index="lines", body={"query": {"match_all": {}}})["valid"], True)
    equal(len(es.search_shards(index="lines")["shards"]), 2)
    ranked = es.rank_eval(
        index="lines",
        body={
            "requests": [{"id": "q", "request": {"query": {"term": {"n": 7}}}, "ratings": [{"_index": "lines", "_id": "7", "rating": 1}]}],
            "metric": {"precision": {"k": 1}},
        },
    )
    equal(ranked["metric_score"], 1.0)


@check()
def changes_by_query():
    equal(es.reindex(body={"source": {"index": "lines"}, "dest": {"index": "copies"}}, refresh=True)["created"], LINES)
    changed = es.update_by_query(index="copies", body={"script": {"source": "ctx._source.n += 1000"}}, refresh=True)
    equal((changed["updated"], changed["failures"]), (LINES, []))
    deleted = es.delete_by_query(index="copies", body={"query": {"range": {"n": {"gte": 1200}}}}, refresh=True)
    equal(deleted["deleted"], 50)
    task = es.update_by_query(index="copies", wait_for_completion=False)["task"]
    wait = {"params": {"wait_for_completion": "true"}} if OPENSEARCH else {"wait_for_completion": True}
    equal(es.tasks.get(task_id=task, **wait)["completed"], True)
    equal(bool(es.tasks.list(detailed=True)["nodes"]), True)
    if MAJOR != 6:
        equal(helpers.reindex(es, "lines", "copies-2"), (LINES, 0))
        es.indices.delete(index="copies-2")
    es.indices.delete(index="copies")


@check()
def aliases_and_mappings():
    es.indices.update_aliases(body={"actions": [{"add": {"index": "lines", "alias": "all-lines"}}]})
    es.indices.put_alias(index="lines", name="errors", body={"filter": {"term": {"level": "error"}}})
    equal(es.count(index="errors")["count"], 25)
    equal(sorted(es.indices.get_alias(index="lines")["lines"]["aliases"]), ["all-lines", "errors"])
    equal(bool(es.indices.exists_alias(name="errors")), True)
    es.indices.delete_alias(index="lines", name="errors")
    kind = {"doc_type": "_doc"} if MAJOR == 6 else {}
    es.indices.put_mapping(index="lines", body={"properties": {"later": {"type": "keyword"}}}, **kind)
    found = es.indices.get_mapping(index="lines")["lines"]["mappings"]
    equal((found["_doc"] if MAJOR == 6 else found)["properties"]["later"], {"type": "keyword"})
    equal(bool(es.indices.get_field_mapping(index="lines", fields="later")["lines"]["mappings"]), True)
    es.indices.put_settings(index="lines", body={"index": {"refresh_interval": "2s"}})
    equal(es.indices.get_settings(index="lines")["lines"]["settings"]["index"]["refresh_interval"], "2s")
    equal(bool(es.indices.get(index="lines")["lines"]["aliases"]), True)


@check()
def legacy_templates():
    body = {"index_patterns": ["old-*"], "settings": {"number_of_shards": 1}, "mappings": mappings()}
    equal(es.indices.put_template(name="old", body=body)["acknowledged"], True)
    equal(list(es.indices.get_template(name="old")), ["old"])
    equal(bool(es.indices.exists_template(name="old")), True)
    es.indices.delete_template(name="old")
    refused(404, lambda: es.indices.get_template(name="old"))


@check(since=7)
def composable_templates():
    component = {"template": {"mappings": {"properties": {"host": {"type": "keyword"}}}}}
    equal(es.cluster.put_component_template(name="parts", body=component)["acknowledged"], True)
    body = {"index_patterns": ["stream-*"], "data_stream": {}, "composed_of": ["parts"], "priority": 200}
    equal(es.indices.put_index_template(name="streams", body=body)["acknowledged"], True)
    found = es.indices.get_index_template(name="streams")["index_templates"][0]["index_template"]
    equal((found["composed_of"], found["priority"]), (["parts"], 200))
    equal(es.cluster.get_component_template(name="parts")["component_templates"][0]["name"], "parts")
    simulated = es.indices.simulate_index_template(name="stream-1")["template"]["mappings"]["properties"]
    equal(simulated["host"], {"type": "keyword"})


@check(since=7)
def data_streams():
    equal(es.indices.create_data_stream(name="stream-a")["acknowledged"], True)
    helpers.bulk(es, ({"_index": "stream-a", "_op_type": "create", "_source": line(n)} for n in range(10)), refresh=True)
    equal(es.count(index="stream-a")["count"], 10)
    stream = es.indices.get_data_stream(name="stream-a")["data_streams"][0]
    equal((stream["timestamp_field"], stream["generation"]), ({"name": "@timestamp"}, 1))
    equal(es.indices.rollover(alias="stream-a")["rolled_over"], True)
    equal(es.indices.data_streams_stats(name="stream-a")["data_stream_count"], 1)
    if not OPENSEARCH:
        found = es.indices.resolve_index(name="stream-*")["data_streams"]
        equal([stream["name"] for stream in found], ["stream-a"])
    es.indices.delete_data_stream(name="stream-a")
    es.indices.delete_index_template(name="streams")
    es.cluster.delete_component_template(name="parts")


@check(since=7, opensearch=False)
def lifecycles():
    hot = {"actions": {"rollover": {"max_age": "1d"}}}
    policy = {"phases": {"hot": hot, "delete": {"min_age": "7d", "actions": {"delete": {}}}}}
    named = {"policy": "logs"} if MAJOR < 8 else {"name": "logs"}
    equal(es.ilm.put_lifecycle(body={"policy": policy}, **named)["acknowledged"], True)
    equal(es.ilm.get_lifecycle(**named)["logs"]["policy"]["phases"]["delete"]["min_age"], "7d")
    equal(es.ilm.get_status()["operation_mode"], "RUNNING")
    equal(es.ilm.explain_lifecycle(index="lines")["indices"]["lines"]["managed"], False)
    equal(es.ilm.delete_lifecycle(**named)["acknowledged"], True)


@check()
def rollover():
    es.indices.create(index="rolled-000001", body={"aliases": {"rolled": {"is_write_index": True}}})
    answer = es.indices.rollover(alias="rolled")
    equal(answer["new_index"], "rolled-000002")
    es.indices.put_settings(index="lines", body={"index.blocks.write": True})
    equal(es.indices.shrink(index="lines", target="shrunk")["acknowledged"], True)
    es.indices.put_settings(index="lines", body={"index.blocks.write": None})


@check()
def cats():
    names = ["aliases", "allocation", "count", "fielddata", "health", "indices", "master", "nodeattrs", "nodes",
             "pending_tasks", "plugins", "recovery", "repositories", "segments", "shards", "tasks", "templates", "thread_pool"]
    if OPENSEARCH:
        names.remove("master")
    for name in names:
        rows = getattr(es.cat, name)(format="json")
        equal(isinstance(list(rows), list), True)
        getattr(es.cat, name)(v=True)
    equal("lines" in [row["index"] for row in es.cat.indices(format="json")], True)


@check()
def cluster():
    equal(es.cluster.health(wait_for_status="yellow")["status"] in ("green", "yellow"), True)
    equal(es.cluster.stats()["indices"]["docs"]["count"] >= LINES, True)
    equal("lines" in es.cluster.state(metric="metadata")["metadata"]["indices"], True)
    es.cluster.put_settings(body={"transient": {"search.max_buckets": 10000}})
    es.cluster.get_settings(include_defaults=True)
    es.cluster.put_settings(body={"transient": {"search.max_buckets": None}})
    equal(es.cluster.pending_tasks()["tasks"], [])
    equal(bool(es.nodes.info()["nodes"]), True)
    equal(bool(es.nodes.stats()["nodes"]), True)
    es.nodes.usage()
    equal(es.indices.stats(index="lines")["_all"]["primaries"]["docs"]["count"], LINES)
    for name in ["segments", "recovery", "flush", "refresh", "forcemerge", "clear_cache", "shard_stores"]:
        getattr(es.indices, name)(index="lines")


@check()
def pipelines():
    equal(es.ingest.put_pipeline(id="p", body={"processors": [{"set": {"field": "seen", "value": True}}]})["acknowledged"], True)
    equal(list(es.ingest.get_pipeline(id="p")), ["p"])
    simulated = es.ingest.simulate(id="p", body={"docs": [{"_source": {}}]})
    equal(simulated["docs"][0]["doc"]["_source"], {"seen": True})
    document(es.index, id="9", body={}, pipeline="p")
    equal(document(es.get, id="9")["_source"], {"seen": True})
    equal(bool(es.ingest.processor_grok()["patterns"]), True)
    es.ingest.delete_pipeline(id="p")


@check()
def snapshots():
    equal(es.snapshot.create_repository(**({"repository": "repo"} if MAJOR < 8 else {"name": "repo"}), body={"type": "fs", "settings": {"location": "repo"}})["acknowledged"], True)
    equal(bool(es.snapshot.verify_repository(**({"repository": "repo"} if MAJOR < 8 else {"name": "repo"}))["nodes"]), True)
    taken = es.snapshot.create(repository="repo", snapshot="s1", body={"indices": "lines"}, wait_for_completion=True)
    equal((taken["snapshot"]["state"], taken["snapshot"]["indices"]), ("SUCCESS", ["lines"]))
    equal(es.snapshot.get(repository="repo", snapshot="s1")["snapshots"][0]["snapshot"], "s1")
    equal(es.snapshot.status(repository="repo", snapshot="s1")["snapshots"][0]["state"], "SUCCESS")
    restored = es.snapshot.restore(
        repository="repo", snapshot="s1", body={"rename_pattern": "lines", "rename_replacement": "back", "include_aliases": False}, wait_for_completion=True)
    equal(restored["snapshot"]["indices"], ["back"])
    equal(es.count(index="back")["count"], LINES)
    equal(es.snapshot.delete(repository="repo", snapshot="s1")["acknowledged"], True)
    es.snapshot.delete_repository(**({"repository": "repo"} if MAJOR < 8 else {"name": "repo"}))


@check(since=7, opensearch=False)
def features():
    equal(es.license.get()["license"]["status"], "active")
    es.xpack.info()
    es.xpack.usage()
    equal(es.security.authenticate()["enabled"], True)
    equal(es.indices.add_block(index="shrunk", block="write")["acknowledged"], True)
    equal(es.indices.clone(index="shrunk", target="cloned")["acknowledged"], True)
    equal(es.indices.split(index="shrunk", target="split", body={"settings": {"index.number_of_shards": 2}})["acknowledged"], True)
    equal(es.indices.resolve_index(name="lin*")["indices"][0]["name"], "lines")


@check()
def delete_index():
    equal(es.indices.close(index="lines")["acknowledged"], True)
    equal(es.indices.open(index="lines")["acknowledged"], True)
    equal(es.indices.delete(index="lines")["acknowledged"], True)


for run in CHECKS:
    result = {"check": run.__name__}
    try:
        run()
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in at if frame.filename == __file__][-1]
        result["error"] = f"line {own.lineno}: {own.line}: {type(error).__name__}: {error}"[:600]
    print(json.dumps(result), flush=True)
