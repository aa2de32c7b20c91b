import static java.util.Map.entry;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._helpers.bulk.BulkIngester;
import co.elastic.clients.elasticsearch._types.ExpandWildcard;
import co.elastic.clients.elasticsearch._types.OpType;
import co.elastic.clients.elasticsearch._types.Refresh;
import co.elastic.clients.elasticsearch._types.SortOrder;
import co.elastic.clients.elasticsearch._types.Time;
import co.elastic.clients.elasticsearch._types.mapping.Property;
import co.elastic.clients.elasticsearch.core.SearchResponse;
import co.elastic.clients.json.JsonData;
import co.elastic.clients.json.jackson.JacksonJsonpMapper;
import co.elastic.clients.transport.rest_client.RestClientTransport;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.http.HttpHost;
import org.elasticsearch.client.RestClient;

/** Every method of the typed client of version 8 that a hub serves: `ApiClient URL`. */
public final class ApiClient {
  private static final int LINES = 250;
  private static ElasticsearchClient es;

  private ApiClient() {}

  public static void main(String[] args) throws Exception {
    try (RestClient low = RestClient.builder(HttpHost.create(args[0])).build();
        RestClientTransport transport = new RestClientTransport(low, new JacksonJsonpMapper())) {
      es = new ElasticsearchClient(transport);
      indices();
      documents();
      searches();
      walks();
      aggregations();
      changes();
      administration();
      templates();
      cluster();
      cats();
      snapshots();
      features();
      endings();
    }
  }

  private static Map<String, Object> line(int n) {
    return Map.of("n", n, "@timestamp", 1_767_312_000_000L + n * 1000L, "level", n % 10 == 0 ? "error" : "info",
        "message", "request " + n + " was answered");
  }

  private static StringReader json(String text) {
    return new StringReader(text.replace('\'', '"'));
  }

  private static void indices() throws Exception {
    Checks.check("info", () -> es.info().version().number());
    Checks.check("ping", () -> es.ping().value());
    Checks.check("create index", () -> es.indices().create(c -> c.index("lines")
        .settings(s -> s.numberOfShards("2"))
        .mappings(m -> m.properties(Map.ofEntries(
            entry("n", Property.of(p -> p.long_(l -> l))),
            entry("@timestamp", Property.of(p -> p.date(d -> d))),
            entry("level", Property.of(p -> p.keyword(k -> k))),
            entry("place", Property.of(p -> p.geoPoint(k -> k))),
            entry("word", Property.of(p -> p.completion(k -> k))),
            entry("message", Property.of(p -> p.text(t -> t.fields("raw", f -> f.keyword(k -> k))))))))));
    Checks.check("exists", () -> {
      Checks.equal(es.indices().exists(e -> e.index("lines")).value(), true);
      Checks.equal(es.indices().exists(e -> e.index("nothing")).value(), false);
      return null;
    });
    Checks.check("bulk ingester", () -> {
      try (BulkIngester<Void> ingester = BulkIngester.of(b -> b.client(es).maxOperations(60))) {
        for (int n = 0; n < LINES; n++) {
          int number = n;
          ingester.add(op -> op.index(i -> i.index("lines").id("" + number).document(line(number))));
        }
      }
      es.indices().refresh(r -> r.index("lines"));
      Checks.equal(es.count(c -> c.index("lines")).count(), (long) LINES);
      return null;
    });
    Checks.check("bulk with failures", () -> {
      var answer = es.bulk(b -> b
          .operations(o -> o.create(c -> c.index("lines").id("1").document(line(1))))
          .operations(o -> o.update(u -> u.index("lines").id("none").action(a -> a.doc(Map.of("n", 1)))))
          .operations(o -> o.delete(d -> d.index("lines").id("none"))));
      Checks.equal(answer.errors(), true);
      Checks.equal(answer.items().stream().map(i -> i.status()).toList(), List.of(409, 404, 404));
      return null;
    });
  }

  private static void documents() {
    Checks.check("index", () -> es.index(i -> i.index("docs").id("1").document(Map.of("n", 1, "text", "brown fox")).refresh(Refresh.WaitFor)));
    Checks.check("create", () -> es.create(c -> c.index("docs").id("2").document(Map.of("n", 2, "text", "quick fox")).refresh(Refresh.True)));
    Checks.refused("create twice", "version_conflict_engine_exception", () -> es.create(c -> c.index("docs").id("2").document(Map.of())));
    Checks.check("get", () -> es.get(g -> g.index("docs").id("1"), Map.class).source());
    Checks.check("get missing", () -> {
      Checks.equal(es.get(g -> g.index("docs").id("9"), Map.class).found(), false);
      return null;
    });
    Checks.check("get source", () -> es.getSource(g -> g.index("docs").id("1"), Map.class));
    Checks.check("exists source", () -> es.existsSource(g -> g.index("docs").id("1")).value());
    Checks.check("document exists", () -> es.exists(g -> g.index("docs").id("1")).value());
    Checks.check("mget", () -> es.mget(m -> m.index("docs").ids("1", "9"), Map.class).docs());
    Checks.check("update", () -> es.update(u -> u.index("docs").id("1").doc(Map.of("n", 3)), Map.class).result());
    Checks.check("update by script", () -> es.update(u -> u.index("docs").id("1").script(s -> s.source("ctx._source.n += 1")), Map.class));
    Checks.check("upsert", () -> es.update(u -> u.index("docs").id("3").doc(Map.of("n", 3)).docAsUpsert(true).source(s -> s.fetch(true)), Map.class).get().source());
    Checks.check("termvectors", () -> es.termvectors(t -> t.index("docs").id("1").fields("text").termStatistics(true)).termVectors());
    Checks.check("mtermvectors", () -> es.mtermvectors(t -> t.index("docs").ids("1", "2")).docs());
    Checks.check("explain", () -> es.explain(e -> e.index("docs").id("1").query(q -> q.match(m -> m.field("text").query("fox"))), Map.class).explanation());
    Checks.check("delete", () -> es.delete(d -> d.index("docs").id("3").refresh(Refresh.True)).result());
    Checks.check("delete missing", () -> es.delete(d -> d.index("docs").id("9")).result());
  }

  private static void searches() {
    Checks.check("search", () -> {
      var found = es.search(s -> s.index("lines").size(2).query(q -> q.term(t -> t.field("level").value("error"))).trackTotalHits(t -> t.enabled(true))
          .highlight(h -> h.fields("message", f -> f)).sort(o -> o.field(f -> f.field("n").order(SortOrder.Desc))).explain(true).version(true).seqNoPrimaryTerm(true)
          .fields(f -> f.field("n")).docvalueFields(f -> f.field("level")).scriptFields("twice", f -> f.script(c -> c.source("doc['n'].value * 2"))), Map.class);
      Checks.equal(found.hits().total().value(), 25L);
      return null;
    });
    Checks.refused("search of nothing", "index_not_found_exception", () -> es.search(s -> s.index("nothing"), Map.class));
    Checks.refused("a wrong query", "parsing_exception", () -> es.search(s -> s.index("lines").withJson(json("{'query':{'foo':{}}}")), Map.class));
    Checks.check("profile", () -> es.search(s -> s.index("lines").profile(true).query(q -> q.match(m -> m.field("message").query("request"))).aggregations("l", a -> a.terms(t -> t.field("level"))), Map.class).profile().shards());
    Checks.check("suggest", () -> es.search(s -> s.index("lines").suggest(g -> g.suggesters("t", t -> t.text("reqest").term(m -> m.field("message")))
       .suggesters("c", t -> t.prefix("a").completion(m -> m.field("word")))), Map.class).suggest());
    Checks.check("collapse", () -> es.search(s -> s.index("lines").collapse(c -> c.field("level").innerHits(i -> i.name("some").size(1))), Map.class).hits().hits().get(0).innerHits());
    Checks.check("msearch", () -> es.msearch(m -> m.searches(s -> s.header(h -> h.index("lines")).body(b -> b.size(0))).searches(s -> s.header(h -> h.index("nothing")).body(b -> b)), Map.class).responses().get(1).failure().error());
    Checks.check("count", () -> es.count(c -> c.index("lines")).count());
    Checks.check("field caps", () -> es.fieldCaps(f -> f.index("lines").fields("*")).fields());
    Checks.check("validate", () -> es.indices().validateQuery(v -> v.index("lines").explain(true).query(q -> q.matchAll(m -> m))).valid());
    Checks.check("search shards", () -> es.searchShards(s -> s.index("lines")).shards());
    Checks.check("rank eval", () -> es.rankEval(r -> r.index("lines").requests(q -> q.id("q").request(x -> x.query(y -> y.term(t -> t.field("n").value(7)))).ratings(d -> d.index("lines").id("7").rating(1)))
        .metric(m -> m.precision(p -> p.k(1)))).metricScore());
    Checks.check("put script", () -> es.putScript(p -> p.id("s").script(s -> s.lang("mustache").source("{\"query\":{\"term\":{\"level\":\"{{level}}\"}}}"))));
    Checks.check("get script", () -> es.getScript(g -> g.id("s")).script());
    Checks.check("search template", () -> es.searchTemplate(s -> s.index("lines").id("s").params("level", JsonData.of("error")), Map.class).hits().total().value());
    Checks.check("msearch template", () -> es.msearchTemplate(m -> m.searchTemplates(t -> t.header(h -> h.index("lines")).body(b -> b.id("s").params("level", JsonData.of("error")))), Map.class).responses());
    Checks.check("render template", () -> es.renderSearchTemplate(s -> s.id("s").params("level", JsonData.of("error"))).templateOutput());
    Checks.check("delete script", () -> es.deleteScript(d -> d.id("s")));
    Checks.check("script context", () -> es.getScriptContext().contexts());
    Checks.check("script languages", () -> es.getScriptLanguages().languageContexts());
    Checks.check("terms enum", () -> es.termsEnum(t -> t.index("lines").field("level").string("e")).terms());
    Checks.check("analyze", () -> es.indices().analyze(a -> a.analyzer("standard").text("Two Words")).tokens());
    Checks.check("analyze explain", () -> es.indices().analyze(a -> a.analyzer("standard").text("Two Words").explain(true)).detail());
  }

  private static void walks() {
    Checks.check("scroll", () -> {
      SearchResponse<Map> first = es.search(s -> s.index("lines").size(100).scroll(Time.of(t -> t.time("1m"))), Map.class);
      var next = es.scroll(s -> s.scrollId(first.scrollId()).scroll(Time.of(t -> t.time("1m"))), Map.class);
      Checks.equal(next.hits().hits().size(), 100);
      return es.clearScroll(c -> c.scrollId(next.scrollId())).numFreed();
    });
    Checks.check("point in time", () -> {
      String id = es.openPointInTime(o -> o.index("lines").keepAlive(Time.of(t -> t.time("1m")))).id();
      var seen = new TreeSet<String>();
      List<co.elastic.clients.elasticsearch._types.FieldValue> after = List.of();
      while (true) {
        var last = after;
        var hits = es.search(s -> {
          s.size(70).pit(p -> p.id(id).keepAlive(Time.of(t -> t.time("1m")))).sort(o -> o.field(f -> f.field("level")));
          return last.isEmpty() ? s : s.searchAfter(last);
        }, Map.class).hits().hits();
        if (hits.isEmpty()) break;
        for (var hit : hits) seen.add(hit.id());
        after = hits.get(hits.size() - 1).sort();
      }
      Checks.equal(seen.size(), LINES);
      return es.closePointInTime(c -> c.id(id)).numFreed();
    });
    Checks.check("async search", () -> {
      var answer = es.asyncSearch().submit(s -> s.index("lines").keepOnCompletion(true).waitForCompletionTimeout(Time.of(t -> t.time("30s")))
          .aggregations("levels", a -> a.terms(t -> t.field("level"))), Map.class);
      Checks.equal(answer.response().aggregations().get("levels").sterms().buckets().array().size(), 2);
      String id = answer.id();
      Checks.equal(es.asyncSearch().get(g -> g.id(id), Map.class).response().hits().total().value(), (long) LINES);
      Checks.equal(es.asyncSearch().status(s -> s.id(id)).completionStatus(), 200);
      return es.asyncSearch().delete(d -> d.id(id)).acknowledged();
    });
    Checks.check("runtime mappings", () -> {
      var answer = es.search(s -> s.index("lines").query(q -> q.term(t -> t.field("twice").value(4)))
          .runtimeMappings("twice", r -> r.type(co.elastic.clients.elasticsearch._types.mapping.RuntimeFieldType.Long).script(c -> c.source("emit(doc['n'].value * 2)"))), Map.class);
      Checks.equal(answer.hits().total().value(), 1L);
      return answer;
    });
  }

  private static void aggregations() {
    Map<String, String> bodies = new HashMap<>();
    for (String metric : List.of("avg", "max", "min", "sum", "stats", "extended_stats", "percentiles", "cardinality", "value_count", "median_absolute_deviation"))
      bodies.put(metric, "{'field':'n'}");
    bodies.put("percentile_ranks", "{'field':'n','values':[10]}");
    bodies.put("terms", "{'field':'level'}");
    bodies.put("rare_terms", "{'field':'level','max_doc_count':50}");
    bodies.put("significant_terms", "{'field':'level'}");
    bodies.put("significant_text", "{'field':'message'}");
    bodies.put("date_histogram", "{'field':'@timestamp','fixed_interval':'1m'}");
    bodies.put("auto_date_histogram", "{'field':'@timestamp','buckets':5}");
    bodies.put("histogram", "{'field':'n','interval':50}");
    bodies.put("range", "{'field':'n','ranges':[{'to':50}]}");
    bodies.put("date_range", "{'field':'@timestamp','ranges':[{'from':'now-1d'}]}");
    bodies.put("filter", "{'term':{'level':'error'}}");
    bodies.put("filters", "{'filters':{'e':{'term':{'level':'error'}}}}");
    bodies.put("adjacency_matrix", "{'filters':{'e':{'term':{'level':'error'}}}}");
    bodies.put("missing", "{'field':'nothing'}");
    bodies.put("global", "{}");
    bodies.put("sampler", "{}");
    bodies.put("diversified_sampler", "{'field':'level'}");
    bodies.put("composite", "{'sources':[{'l':{'terms':{'field':'level'}}}]}");
    bodies.put("top_hits", "{'size':1}");
    bodies.put("weighted_avg", "{'value':{'field':'n'},'weight':{'field':'n'}}");
    bodies.put("matrix_stats", "{'fields':['n']}");
    bodies.put("geo_bounds", "{'field':'place'}");
    bodies.put("geo_centroid", "{'field':'place'}");
    bodies.put("geohash_grid", "{'field':'place'}");
    bodies.put("geotile_grid", "{'field':'place'}");
    bodies.put("geo_distance", "{'field':'place','origin':'0,0','ranges':[{'to':5}]}");
    bodies.put("scripted_metric", "{'init_script':'state.a=0','map_script':'state.a+=1','combine_script':'state.a','reduce_script':'states.size()'}");
    for (String name : new TreeSet<>(bodies.keySet())) {
      Checks.check("aggregation " + name, () -> es.search(s -> s.index("lines").size(0).withJson(json("{'aggs':{'a':{'" + name + "':" + bodies.get(name) + "}}}")), Map.class).aggregations());
    }
    Checks.check("pipeline aggregations", () -> es.search(s -> s.index("lines").size(0).withJson(json("{'aggs':{'h':{'date_histogram':{'field':'@timestamp','fixed_interval':'1m'},'aggs':{'m':{'max':{'field':'n'}},"
        + "'d':{'derivative':{'buckets_path':'m'}},'c':{'cumulative_sum':{'buckets_path':'m'}},'s':{'serial_diff':{'buckets_path':'m','lag':1}},"
        + "'x':{'bucket_script':{'buckets_path':{'m':'m'},'script':'params.m'}},'f':{'moving_fn':{'buckets_path':'m','window':3,'script':'MovingFunctions.max(values)'}}}},"
        + "'a':{'avg_bucket':{'buckets_path':'h>m'}},'b':{'max_bucket':{'buckets_path':'h>m'}},'sb':{'stats_bucket':{'buckets_path':'h>m'}},'e':{'extended_stats_bucket':{'buckets_path':'h>m'}},'p':{'percentiles_bucket':{'buckets_path':'h>m'}}}}")), Map.class).aggregations());
  }

  private static void changes() {
    Checks.check("reindex", () -> es.reindex(r -> r.source(s -> s.index("lines")).dest(d -> d.index("copies")).refresh(true)).created());
    Checks.check("update by query", () -> es.updateByQuery(u -> u.index("copies").script(s -> s.source("ctx._source.n += 1000")).refresh(true)).updated());
    Checks.check("delete by query", () -> es.deleteByQuery(d -> d.index("copies").query(q -> q.range(r -> r.number(n -> n.field("n").gte(1200.0)))).refresh(true)).deleted());
    Checks.check("task of a change", () -> {
      String task = es.updateByQuery(u -> u.index("copies").waitForCompletion(false)).task();
      return es.tasks().get(g -> g.taskId(task).waitForCompletion(true)).completed();
    });
    Checks.check("rethrottle", () -> {
      String task = es.updateByQuery(u -> u.index("copies").waitForCompletion(false).requestsPerSecond(1f).scrollSize(10L)).task();
      es.updateByQueryRethrottle(r -> r.taskId(task).requestsPerSecond(-1f));
      return es.tasks().cancel(c -> c.taskId(task)).nodes();
    });
    Checks.check("tasks", () -> es.tasks().list(l -> l.detailed(true)).nodes());
  }

  private static void administration() {
    Checks.check("update aliases", () -> es.indices().updateAliases(u -> u.actions(a -> a.add(x -> x.index("lines").alias("all-lines")))).acknowledged());
    Checks.check("put alias", () -> es.indices().putAlias(p -> p.index("lines").name("errors").filter(f -> f.term(t -> t.field("level").value("error")))));
    Checks.check("get alias", () -> es.indices().getAlias(g -> g.index("lines")).result());
    Checks.check("exists alias", () -> es.indices().existsAlias(g -> g.name("errors")).value());
    Checks.check("delete alias", () -> es.indices().deleteAlias(g -> g.index("lines").name("errors")));
    Checks.check("put mapping", () -> es.indices().putMapping(p -> p.index("lines").properties("later", x -> x.keyword(k -> k))));
    Checks.check("get mapping", () -> es.indices().getMapping(g -> g.index("lines")).result());
    Checks.check("get field mapping", () -> es.indices().getFieldMapping(g -> g.index("lines").fields("later")).result());
    Checks.check("put settings", () -> es.indices().putSettings(p -> p.index("lines").settings(s -> s.refreshInterval(Time.of(t -> t.time("2s"))))));
    Checks.check("get settings", () -> es.indices().getSettings(g -> g.index("lines").includeDefaults(true)).result());
    Checks.check("get index", () -> es.indices().get(g -> g.index("lines")).result());
    Checks.check("index stats", () -> es.indices().stats(s -> s.index("lines")).all());
    Checks.check("index stats by shard", () -> es.indices().stats(s -> s.index("lines").level(co.elastic.clients.elasticsearch._types.Level.Shards)).indices());
    Checks.check("segments", () -> es.indices().segments(s -> s.index("lines")).indices());
    Checks.check("recovery", () -> es.indices().recovery(s -> s.index("lines")).result());
    Checks.check("shard stores", () -> es.indices().shardStores(s -> s.index("lines")).indices());
    Checks.check("flush", () -> es.indices().flush(f -> f.index("lines")).shards());
    Checks.check("forcemerge", () -> es.indices().forcemerge(f -> f.index("lines")).shards());
    Checks.check("clear cache", () -> es.indices().clearCache(f -> f.index("lines")).shards());
    Checks.check("resolve index", () -> es.indices().resolveIndex(r -> r.name("lin*")).indices());
    Checks.refused("resolve cluster", "not offered", () -> es.indices().resolveCluster(r -> r.name("lin*")).result());
    Checks.check("add block", () -> es.indices().addBlock(a -> a.index("lines").block(co.elastic.clients.elasticsearch.indices.add_block.IndicesBlockOptions.Write)).indices());
    Checks.check("shrink", () -> es.indices().shrink(s -> s.index("lines").target("shrunk")).index());
    Checks.check("clone", () -> es.indices().clone(s -> s.index("lines").target("cloned")).index());
    Checks.check("split", () -> es.indices().split(s -> s.index("lines").target("split").settings("index.number_of_shards", JsonData.of(4))).index());
    Checks.check("unblock", () -> es.indices().putSettings(p -> p.index("lines").settings(s -> s.blocks(b -> b.write(false)))));
    Checks.check("rollover", () -> {
      es.indices().create(c -> c.index("rolled-000001").aliases("rolled", a -> a.isWriteIndex(true)));
      return es.indices().rollover(r -> r.alias("rolled")).newIndex();
    });
    Checks.check("close index", () -> es.indices().close(c -> c.index("cloned")).indices());
    Checks.check("open index", () -> es.indices().open(c -> c.index("cloned")).acknowledged());
    Checks.refused("disk usage", "not offered", () -> es.indices().diskUsage(d -> d.index("lines").runExpensiveTasks(true)));
    Checks.refused("field usage", "not offered", () -> es.indices().fieldUsageStats(d -> d.index("lines")));
    Checks.check("put pipeline", () -> es.ingest().putPipeline(p -> p.id("p").processors(x -> x.set(s -> s.field("seen").value(JsonData.of(true))))));
    Checks.check("get pipeline", () -> es.ingest().getPipeline(p -> p.id("p")).result());
    Checks.check("simulate", () -> es.ingest().simulate(s -> s.id("p").docs(d -> d.source(JsonData.of(Map.of())))).docs().get(0).doc().source());
    Checks.check("simulate verbose", () -> es.ingest().simulate(s -> s.id("p").verbose(true).docs(d -> d.source(JsonData.of(Map.of())))).docs().get(0).processorResults());
    Checks.check("grok patterns", () -> es.ingest().processorGrok().patterns());
    Checks.refused("geoip stats", "not offered", () -> es.ingest().geoIpStats().stats());
    Checks.check("delete pipeline", () -> es.ingest().deletePipeline(p -> p.id("p")));
  }

  private static void templates() {
    Checks.check("put legacy template", () -> es.indices().putTemplate(p -> p.name("old").indexPatterns("old-*").order(1)));
    Checks.check("get legacy template", () -> es.indices().getTemplate(g -> g.name("old")).result());
    Checks.check("exists legacy template", () -> es.indices().existsTemplate(g -> g.name("old")).value());
    Checks.check("delete legacy template", () -> es.indices().deleteTemplate(d -> d.name("old")));
    Checks.check("put component", () -> es.cluster().putComponentTemplate(p -> p.name("parts").template(t -> t.mappings(m -> m.properties("host", h -> h.keyword(k -> k))))));
    Checks.check("get component", () -> es.cluster().getComponentTemplate(g -> g.name("parts")).componentTemplates());
    Checks.check("exists component", () -> es.cluster().existsComponentTemplate(g -> g.name("parts")).value());
    Checks.check("put template", () -> es.indices().putIndexTemplate(p -> p.name("streams").indexPatterns("stream-*").composedOf("parts").priority(200L).dataStream(d -> d)));
    Checks.check("get template", () -> es.indices().getIndexTemplate(g -> g.name("streams")).indexTemplates());
    Checks.check("exists template", () -> es.indices().existsIndexTemplate(g -> g.name("streams")).value());
    Checks.check("simulate template", () -> es.indices().simulateTemplate(s -> s.name("streams")).template());
    Checks.check("simulate index", () -> es.indices().simulateIndexTemplate(s -> s.name("stream-a")).template());
    Checks.check("create stream", () -> es.indices().createDataStream(c -> c.name("stream-a")).acknowledged());
    Checks.check("index into stream", () -> es.index(i -> i.index("stream-a").opType(OpType.Create).document(line(1)).refresh(Refresh.True)));
    Checks.check("get stream", () -> es.indices().getDataStream(g -> g.name("stream-a")).dataStreams().get(0).indices().get(0).managedBy());
    Checks.check("stream stats", () -> es.indices().dataStreamsStats(g -> g.name("stream-a")).dataStreams());
    Checks.check("rollover stream", () -> es.indices().rollover(r -> r.alias("stream-a")).rolledOver());
    Checks.check("get index of stream", () -> es.indices().get(g -> g.index("stream-a")).result());
    Checks.check("resolve stream", () -> es.indices().resolveIndex(r -> r.name("stream-*").expandWildcards(ExpandWildcard.All)).dataStreams());
    Checks.refused("get data lifecycle", "not offered", () -> es.indices().getDataLifecycle(g -> g.name("stream-a")).dataStreams());
    Checks.refused("explain data lifecycle", "not offered", () -> es.indices().explainDataLifecycle(g -> g.index("lines")).indices());
    Checks.check("delete stream", () -> es.indices().deleteDataStream(d -> d.name("stream-a")));
    Checks.check("delete template", () -> es.indices().deleteIndexTemplate(d -> d.name("streams")));
    Checks.check("delete component", () -> es.cluster().deleteComponentTemplate(d -> d.name("parts")));
  }

  private static void cluster() {
    Checks.check("health", () -> es.cluster().health(h -> h.level(co.elastic.clients.elasticsearch._types.Level.Shards)).indices());
    Checks.check("cluster stats", () -> es.cluster().stats().indices());
    Checks.check("cluster state", () -> es.cluster().state().valueBody());
    Checks.refused("cluster info", "not offered", () -> es.cluster().info(i -> i.target(co.elastic.clients.elasticsearch._types.ClusterInfoTarget.Ingest)));
    Checks.check("get cluster settings", () -> es.cluster().getSettings(g -> g.includeDefaults(true)).defaults());
    Checks.check("put cluster settings", () -> es.cluster().putSettings(p -> p.transient_("search.max_buckets", JsonData.of(10000))));
    Checks.check("pending tasks", () -> es.cluster().pendingTasks().tasks());
    Checks.check("allocation explain", () -> es.cluster().allocationExplain(a -> a.index("lines").shard(0).primary(true)).currentState());
    Checks.check("reroute", () -> es.cluster().reroute(r -> r.dryRun(true)).acknowledged());
    Checks.check("remote info", () -> es.cluster().remoteInfo().result());
    Checks.check("nodes info", () -> es.nodes().info().nodes().values().iterator().next().settings());
    Checks.check("nodes stats", () -> es.nodes().stats().nodes());
    Checks.check("nodes usage", () -> es.nodes().usage().nodes());
    Checks.refused("hot threads", "not offered", () -> es.nodes().hotThreads());
    Checks.check("health report", () -> es.healthReport().indicators().shardsAvailability().symptom());
  }

  private static void cats() {
    Checks.check("cat aliases", () -> es.cat().aliases().toString());
    Checks.check("cat allocation", () -> es.cat().allocation().toString());
    Checks.check("cat component templates", () -> es.cat().componentTemplates().toString());
    Checks.check("cat count", () -> es.cat().count().toString());
    Checks.check("cat fielddata", () -> es.cat().fielddata().toString());
    Checks.check("cat health", () -> es.cat().health().toString());
    Checks.check("cat indices", () -> es.cat().indices().toString());
    Checks.check("cat master", () -> es.cat().master().toString());
    Checks.check("cat nodeattrs", () -> es.cat().nodeattrs().toString());
    Checks.check("cat nodes", () -> es.cat().nodes().toString());
    Checks.check("cat pending tasks", () -> es.cat().pendingTasks().toString());
    Checks.check("cat plugins", () -> es.cat().plugins().toString());
    Checks.check("cat recovery", () -> es.cat().recovery().toString());
    Checks.check("cat repositories", () -> es.cat().repositories().toString());
    Checks.check("cat segments", () -> es.cat().segments().toString());
    Checks.check("cat shards", () -> es.cat().shards().toString());
    Checks.check("cat tasks", () -> es.cat().tasks().toString());
    Checks.check("cat templates", () -> es.cat().templates().toString());
    Checks.check("cat thread pool", () -> es.cat().threadPool().toString());
  }

  private static void snapshots() {
    Checks.check("create repository", () -> es.snapshot().createRepository(c -> c.name("repo").repository(r -> r.fs(f -> f.settings(s -> s.location("repo"))))).acknowledged());
    Checks.check("get repository", () -> es.snapshot().getRepository(g -> g.name("repo")).result());
    Checks.check("verify repository", () -> es.snapshot().verifyRepository(v -> v.name("repo")).nodes());
    Checks.check("create snapshot", () -> es.snapshot().create(c -> c.repository("repo").snapshot("s1").indices("lines").waitForCompletion(true)).snapshot().state());
    Checks.check("get snapshot", () -> es.snapshot().get(g -> g.repository("repo").snapshot("s1")).snapshots());
    Checks.check("get all snapshots", () -> es.snapshot().get(g -> g.repository("_all").snapshot("*")).snapshots());
    Checks.check("snapshot status", () -> es.snapshot().status(s -> s.repository("repo").snapshot("s1")).snapshots());
    Checks.check("cat snapshots", () -> es.cat().snapshots(s -> s.repository("repo")));
    Checks.check("restore", () -> es.snapshot().restore(r -> r.repository("repo").snapshot("s1").renamePattern("lines").renameReplacement("back").includeAliases(false).waitForCompletion(true)).snapshot());
    Checks.check("clean up repository", () -> es.snapshot().cleanupRepository(c -> c.name("repo")).results());
    Checks.check("delete snapshot", () -> es.snapshot().delete(d -> d.repository("repo").snapshot("s1")));
    Checks.check("delete repository", () -> es.snapshot().deleteRepository(d -> d.name("repo")));
  }

  private static void features() {
    Checks.check("license", () -> es.license().get().license());
    Checks.check("authenticate", () -> es.security().authenticate().username());
    Checks.check("ilm put", () -> es.ilm().putLifecycle(p -> p.name("logs").policy(l -> l.phases(h -> h.delete(d -> d.minAge(Time.of(t -> t.time("7d"))).actions(a -> a.delete(x -> x)))))));
    Checks.check("ilm get", () -> es.ilm().getLifecycle(g -> g.name("logs")).result());
    Checks.check("ilm status", () -> es.ilm().getStatus().operationMode());
    Checks.check("ilm explain", () -> es.ilm().explainLifecycle(e -> e.index("lines")).indices());
    Checks.check("ilm delete", () -> es.ilm().deleteLifecycle(g -> g.name("logs")));
    Checks.refused("sql", "not offered", () -> es.sql().query(q -> q.query("select 1")));
    Checks.refused("esql", "not offered", () -> es.esql().query(q -> q.query("row 1")));
    Checks.refused("eql", "not offered", () -> es.eql().search(q -> q.index("lines").query("any where true"), Map.class));
    Checks.refused("transforms", "not offered", () -> es.transform().getTransform());
    Checks.refused("machine learning", "not offered", () -> es.ml().info());
    Checks.refused("watches", "not offered", () -> es.watcher().stats());
    Checks.refused("snapshot lifecycles", "not offered", () -> es.slm().getLifecycle());
    Checks.refused("rollups", "not offered", () -> es.rollup().getJobs());
    Checks.refused("enrich", "not offered", () -> es.enrich().getPolicy());
    Checks.refused("replication", "not offered", () -> es.ccr().stats());
    Checks.refused("graphs", "not offered", () -> es.graph().explore(e -> e.index("lines")));
    Checks.refused("deprecations", "not offered", () -> es.migration().deprecations());
    Checks.refused("pipelines of the other product", "not offered", () -> es.logstash().getPipeline(g -> g.id("x")));
    Checks.refused("autoscaling", "not offered", () -> es.autoscaling().getAutoscalingCapacity());
    Checks.refused("certificates", "not offered", () -> es.ssl().certificates());
    Checks.refused("searchable snapshots", "not offered", () -> es.searchableSnapshots().stats());
    Checks.refused("query rules", "not offered", () -> es.queryRules().listRulesets());
    Checks.refused("synonym sets", "not offered", () -> es.synonyms().getSynonymsSets());
    Checks.refused("search applications", "not offered", () -> es.searchApplication().list());
    Checks.refused("connectors", "not offered", () -> es.connector().list());
    Checks.refused("inference", "not offered", () -> es.inference().get());
    Checks.refused("text structure", "not offered", () -> es.textStructure().testGrokPattern(g -> g.grokPattern("%{WORD:a}").text("a")));
    Checks.refused("features", "not offered", () -> es.features().getFeatures());
    Checks.refused("vector tiles", "not offered", () -> es.searchMvt(s -> s.index("lines").field("place").zoom(1).x(0).y(0)));
    Checks.check("scripts tried out", () -> {
      Checks.equal(es.scriptsPainlessExecute(s -> s.script(c -> c.source("1 + 1")), String.class).result(), "2");
      return true;
    });
    Checks.refused("dangling indices", "not offered", () -> es.danglingIndices().listDanglingIndices());
    Checks.refused("shutting down nodes", "not offered", () -> es.shutdown().getNode());
    Checks.refused("changing a stream", "not offered", () -> es.indices().modifyDataStream(m -> m.actions(a -> a.addBackingIndex(b -> b.dataStream("a").index("b")))));
  }

  private static void endings() {
    Checks.check("delete index", () -> es.indices().delete(d -> d.index(new ArrayList<>(List.of("lines", "docs")))).acknowledged());
  }
}
