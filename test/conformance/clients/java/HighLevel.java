import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.http.HttpHost;
import org.elasticsearch.action.DocWriteRequest;
import org.elasticsearch.action.admin.cluster.health.ClusterHealthRequest;
import org.elasticsearch.action.admin.cluster.node.tasks.list.ListTasksRequest;
import org.elasticsearch.action.admin.cluster.repositories.delete.DeleteRepositoryRequest;
import org.elasticsearch.action.admin.cluster.repositories.get.GetRepositoriesRequest;
import org.elasticsearch.action.admin.cluster.repositories.put.PutRepositoryRequest;
import org.elasticsearch.action.admin.cluster.repositories.verify.VerifyRepositoryRequest;
import org.elasticsearch.action.admin.cluster.settings.ClusterGetSettingsRequest;
import org.elasticsearch.action.admin.cluster.settings.ClusterUpdateSettingsRequest;
import org.elasticsearch.action.admin.cluster.snapshots.create.CreateSnapshotRequest;
import org.elasticsearch.action.admin.cluster.snapshots.delete.DeleteSnapshotRequest;
import org.elasticsearch.action.admin.cluster.snapshots.get.GetSnapshotsRequest;
import org.elasticsearch.action.admin.cluster.snapshots.restore.RestoreSnapshotRequest;
import org.elasticsearch.action.admin.cluster.snapshots.status.SnapshotsStatusRequest;
import org.elasticsearch.action.admin.cluster.storedscripts.DeleteStoredScriptRequest;
import org.elasticsearch.action.admin.cluster.storedscripts.GetStoredScriptRequest;
import org.elasticsearch.action.admin.cluster.storedscripts.PutStoredScriptRequest;
import org.elasticsearch.action.admin.indices.alias.IndicesAliasesRequest;
import org.elasticsearch.action.admin.indices.alias.get.GetAliasesRequest;
import org.elasticsearch.action.admin.indices.cache.clear.ClearIndicesCacheRequest;
import org.elasticsearch.action.admin.indices.delete.DeleteIndexRequest;
import org.elasticsearch.action.admin.indices.flush.FlushRequest;
import org.elasticsearch.action.admin.indices.forcemerge.ForceMergeRequest;
import org.elasticsearch.action.admin.indices.open.OpenIndexRequest;
import org.elasticsearch.action.admin.indices.refresh.RefreshRequest;
import org.elasticsearch.action.admin.indices.settings.get.GetSettingsRequest;
import org.elasticsearch.action.admin.indices.settings.put.UpdateSettingsRequest;
import org.elasticsearch.action.admin.indices.shrink.ResizeRequest;
import org.elasticsearch.action.admin.indices.template.delete.DeleteIndexTemplateRequest;
import org.elasticsearch.action.admin.indices.validate.query.ValidateQueryRequest;
import org.elasticsearch.action.bulk.BulkProcessor;
import org.elasticsearch.action.bulk.BulkRequest;
import org.elasticsearch.action.bulk.BulkResponse;
import org.elasticsearch.action.fieldcaps.FieldCapabilitiesRequest;
import org.elasticsearch.action.get.GetRequest;
import org.elasticsearch.action.get.MultiGetRequest;
import org.elasticsearch.action.index.IndexRequest;
import org.elasticsearch.action.ingest.DeletePipelineRequest;
import org.elasticsearch.action.ingest.GetPipelineRequest;
import org.elasticsearch.action.ingest.PutPipelineRequest;
import org.elasticsearch.action.ingest.SimulatePipelineRequest;
import org.elasticsearch.action.search.ClearScrollRequest;
import org.elasticsearch.action.search.MultiSearchRequest;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.action.search.SearchScrollRequest;
import org.elasticsearch.action.support.WriteRequest.RefreshPolicy;
import org.elasticsearch.action.update.UpdateRequest;
import org.elasticsearch.client.RequestOptions;
import org.elasticsearch.client.RestClient;
import org.elasticsearch.client.RestHighLevelClient;
import org.elasticsearch.client.core.CountRequest;
import org.elasticsearch.client.indices.CreateIndexRequest;
import org.elasticsearch.client.indices.GetFieldMappingsRequest;
import org.elasticsearch.client.indices.GetIndexRequest;
import org.elasticsearch.client.indices.GetIndexTemplatesRequest;
import org.elasticsearch.client.indices.GetMappingsRequest;
import org.elasticsearch.client.indices.IndexTemplatesExistRequest;
import org.elasticsearch.client.indices.PutIndexTemplateRequest;
import org.elasticsearch.client.indices.PutMappingRequest;
import org.elasticsearch.client.indices.rollover.RolloverRequest;
import org.elasticsearch.common.bytes.BytesArray;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.query.QueryBuilders;
import org.elasticsearch.index.reindex.DeleteByQueryRequest;
import org.elasticsearch.index.reindex.ReindexRequest;
import org.elasticsearch.index.reindex.UpdateByQueryRequest;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.script.Script;
import org.elasticsearch.script.ScriptType;
import org.elasticsearch.script.mustache.SearchTemplateRequest;
import org.elasticsearch.search.aggregations.AggregationBuilders;
import org.elasticsearch.search.aggregations.bucket.histogram.DateHistogramInterval;
import org.elasticsearch.search.aggregations.bucket.terms.Terms;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.fetch.subphase.highlight.HighlightBuilder;
import org.elasticsearch.search.sort.SortOrder;
import org.elasticsearch.search.suggest.SuggestBuilder;
import org.elasticsearch.search.suggest.SuggestBuilders;
import org.elasticsearch.tasks.TaskId;

/** The methods of the high-level client of 6.8 and 7.17 that a hub serves: `HighLevel URL`; `Version` is what differs. */
public final class HighLevel {
  private static final int LINES = 250;
  private static final RequestOptions DEFAULT = RequestOptions.DEFAULT;
  private static RestHighLevelClient es;

  private HighLevel() {}

  public static void main(String[] args) throws Exception {
    es = new RestHighLevelClient(RestClient.builder(HttpHost.create(args[0])));
    bulk();
    documents();
    searches();
    changes();
    indices();
    cluster();
    snapshots();
    Version.more(es);
    endings();
    es.close();
  }

  private static Map<String, Object> line(int n) {
    return Map.of("n", n, "@timestamp", 1_767_312_000_000L + n * 1000L, "level", n % 10 == 0 ? "error" : "info", "message", "request " + n + " was answered");
  }

  private static void bulk() {
    Checks.check("info", () -> es.info(DEFAULT).getVersion());
    Checks.check("ping", () -> es.ping(DEFAULT));
    Checks.check("create index", () -> es.indices().create(new CreateIndexRequest("lines").settings(Settings.builder().put("number_of_shards", 2))
        .mapping(Map.of("properties", Map.of("n", Map.of("type", "long"), "@timestamp", Map.of("type", "date"), "level", Map.of("type", "keyword"), "message", Map.of("type", "text")))), DEFAULT).isAcknowledged());
    Checks.check("index exists", () -> {
      Checks.equal(es.indices().exists(new GetIndexRequest("nothing"), DEFAULT), false);
      return null;
    });
    Checks.check("bulk processor", () -> {
      List<Throwable> failures = new ArrayList<>();
      BulkProcessor.Listener listener = new BulkProcessor.Listener() {
        @Override
        public void beforeBulk(long id, BulkRequest request) {}

        @Override
        public void afterBulk(long id, BulkRequest request, BulkResponse response) {
          if (response.hasFailures()) failures.add(new AssertionError(response.buildFailureMessage()));
        }

        @Override
        public void afterBulk(long id, BulkRequest request, Throwable failure) {
          failures.add(failure);
        }
      };
      BulkProcessor processor = Version.processor(es, listener).setBulkActions(60).build();
      for (int n = 0; n < LINES; n++) processor.add(Version.index("lines").id("" + n).source(line(n)));
      processor.awaitClose(20, java.util.concurrent.TimeUnit.SECONDS);
      es.indices().refresh(new RefreshRequest("lines"), DEFAULT);
      Checks.equal(failures, List.of());
      Checks.equal(es.count(new CountRequest("lines"), DEFAULT).getCount(), (long) LINES);
      return null;
    });
    Checks.check("bulk with failures", () -> {
      BulkResponse answer = es.bulk(new BulkRequest()
          .add(Version.index("lines").id("1").opType(DocWriteRequest.OpType.CREATE).source(line(1)))
          .add(Version.delete("lines", "none")), DEFAULT);
      Checks.equal(Arrays.stream(answer.getItems()).map(i -> i.status()).toList(), List.of(RestStatus.CONFLICT, RestStatus.NOT_FOUND));
      return null;
    });
  }

  private static void documents() {
    Checks.check("index", () -> es.index(Version.index("docs").id("1").source(Map.of("n", 1, "text", "brown fox")).setRefreshPolicy(RefreshPolicy.WAIT_UNTIL), DEFAULT).getResult());
    Checks.check("get", () -> {
      Checks.equal(es.get(Version.get("docs", "1"), DEFAULT).getSource().get("n"), 1);
      Checks.equal(es.get(Version.get("docs", "9"), DEFAULT).isExists(), false);
      return es.exists(Version.get("docs", "1"), DEFAULT);
    });
    Checks.check("multi get", () -> es.mget(new MultiGetRequest().add(Version.item("docs", "1")).add(Version.item("docs", "9")), DEFAULT).getResponses());
    Checks.check("update", () -> es.update(Version.update("docs", "1").doc(Map.of("n", 2)).fetchSource(true), DEFAULT).getGetResult().sourceAsMap());
    Checks.check("update by script", () -> es.update(Version.update("docs", "1").script(new Script("ctx._source.n += 1")), DEFAULT).getResult());
    Checks.check("upsert", () -> es.update(Version.update("docs", "2").doc(Map.of("n", 2)).docAsUpsert(true), DEFAULT).getResult());
    Checks.refused("update of nothing", "document_missing_exception", () -> es.update(Version.update("docs", "9").doc(Map.of("n", 2)), DEFAULT));
    Checks.check("term vectors", () -> es.termvectors(Version.termVectors("docs", "1"), DEFAULT).getTermVectorsList());
    Checks.check("explain", () -> es.explain(Version.explain("docs", "1").query(QueryBuilders.matchQuery("text", "fox")), DEFAULT).getExplanation());
    Checks.check("delete", () -> es.delete(Version.delete("docs", "2"), DEFAULT).getResult());
  }

  private static void searches() {
    Checks.check("search", () -> {
      SearchSourceBuilder source = new SearchSourceBuilder().query(QueryBuilders.boolQuery().must(QueryBuilders.matchQuery("message", "request")).filter(QueryBuilders.termQuery("level", "error")))
          .size(2).sort("n", SortOrder.DESC).highlighter(new HighlightBuilder().field("message")).docValueField("level").explain(true).version(true)
          .aggregation(AggregationBuilders.terms("levels").field("level").subAggregation(AggregationBuilders.max("most").field("n")))
          .aggregation(AggregationBuilders.dateHistogram("times").field("@timestamp").dateHistogramInterval(DateHistogramInterval.MINUTE))
          .aggregation(AggregationBuilders.percentiles("p").field("n")).aggregation(AggregationBuilders.extendedStats("e").field("n"))
          .aggregation(AggregationBuilders.cardinality("c").field("level")).aggregation(AggregationBuilders.topHits("t").size(1))
          .suggest(new SuggestBuilder().addSuggestion("s", SuggestBuilders.termSuggestion("message").text("reqest")));
      SearchResponse found = es.search(new SearchRequest("lines").source(source), DEFAULT);
      Checks.equal(found.getHits().getHits().length, 2);
      Terms levels = found.getAggregations().get("levels");
      Checks.equal(levels.getBuckets().get(0).getDocCount(), 25L);
      return null;
    });
    Checks.check("profile", () -> es.search(new SearchRequest("lines").source(new SearchSourceBuilder().profile(true).query(QueryBuilders.matchQuery("message", "request")).aggregation(AggregationBuilders.terms("l").field("level"))), DEFAULT).getProfileResults());
    Checks.refused("search of nothing", "index_not_found_exception", () -> es.search(new SearchRequest("nothing"), DEFAULT));
    Checks.check("multi search", () -> es.msearch(new MultiSearchRequest().add(new SearchRequest("lines")).add(new SearchRequest("nothing")), DEFAULT).getResponses()[1].getFailure().toString());
    Checks.check("scroll", () -> {
      SearchResponse page = es.search(new SearchRequest("lines").source(new SearchSourceBuilder().size(100)).scroll(Version.MINUTE), DEFAULT);
      int found = 0;
      while (page.getHits().getHits().length > 0) {
        found += page.getHits().getHits().length;
        page = es.scroll(new SearchScrollRequest(page.getScrollId()).scroll(Version.MINUTE), DEFAULT);
      }
      Checks.equal(found, LINES);
      ClearScrollRequest clear = new ClearScrollRequest();
      clear.addScrollId(page.getScrollId());
      return es.clearScroll(clear, DEFAULT).isSucceeded();
    });
    Checks.check("field capabilities", () -> es.fieldCaps(new FieldCapabilitiesRequest().indices("lines").fields("*"), DEFAULT).getField("level"));
    Checks.check("validate", () -> es.indices().validateQuery(new ValidateQueryRequest("lines").query(QueryBuilders.matchAllQuery()), DEFAULT).isValid());
    Checks.check("analyze", () -> Version.analyze(es));
    Checks.check("search template", () -> {
      SearchTemplateRequest request = new SearchTemplateRequest(new SearchRequest("lines"));
      request.setScriptType(ScriptType.INLINE);
      request.setScript("{\"query\":{\"term\":{\"level\":\"{{level}}\"}}}");
      request.setScriptParams(Map.of("level", "error"));
      return es.searchTemplate(request, DEFAULT).getResponse().getHits();
    });
    Checks.check("put script", () -> es.putScript(new PutStoredScriptRequest().id("s").content(new BytesArray("{\"script\":{\"lang\":\"painless\",\"source\":\"1\"}}"), Version.JSON), DEFAULT).isAcknowledged());
    Checks.check("get script", () -> es.getScript(new GetStoredScriptRequest("s"), DEFAULT).getSource());
    Checks.check("delete script", () -> es.deleteScript(new DeleteStoredScriptRequest("s"), DEFAULT).isAcknowledged());
  }

  private static void changes() {
    Checks.check("reindex", () -> es.reindex(new ReindexRequest().setSourceIndices("lines").setDestIndex("copies").setRefresh(true), DEFAULT).getCreated());
    Checks.check("update by query", () -> es.updateByQuery((UpdateByQueryRequest) new UpdateByQueryRequest("copies").setScript(new Script("ctx._source.n += 1000")).setRefresh(true), DEFAULT).getUpdated());
    Checks.check("delete by query", () -> es.deleteByQuery((DeleteByQueryRequest) new DeleteByQueryRequest("copies").setQuery(QueryBuilders.rangeQuery("n").gte(1200)).setRefresh(true), DEFAULT).getDeleted());
    Checks.check("task", () -> {
      String id = es.submitReindexTask(new ReindexRequest().setSourceIndices("lines").setDestIndex("copies"), DEFAULT).getTask();
      TaskId task = new TaskId(id);
      return es.tasks().get(new org.elasticsearch.client.tasks.GetTaskRequest(task.getNodeId(), task.getId()), DEFAULT).get().getTaskInfo();
    });
    Checks.check("tasks", () -> es.tasks().list(new ListTasksRequest().setDetailed(true), DEFAULT).getTasks());
  }

  private static void indices() {
    Checks.check("aliases", () -> es.indices().updateAliases(new IndicesAliasesRequest().addAliasAction(IndicesAliasesRequest.AliasActions.add().index("lines").alias("all-lines")), DEFAULT).isAcknowledged());
    Checks.check("get alias", () -> es.indices().getAlias(new GetAliasesRequest("all-lines"), DEFAULT).getAliases());
    Checks.check("exists alias", () -> es.indices().existsAlias(new GetAliasesRequest("all-lines"), DEFAULT));
    Checks.check("put mapping", () -> es.indices().putMapping(new PutMappingRequest("lines").source(Map.of("properties", Map.of("later", Map.of("type", "keyword")))), DEFAULT).isAcknowledged());
    Checks.check("get mapping", () -> es.indices().getMapping(new GetMappingsRequest().indices("lines"), DEFAULT).mappings());
    Checks.check("get field mapping", () -> es.indices().getFieldMapping(new GetFieldMappingsRequest().indices("lines").fields("later"), DEFAULT).mappings());
    Checks.check("put settings", () -> es.indices().putSettings(new UpdateSettingsRequest("lines").settings(Map.of("index.refresh_interval", "2s")), DEFAULT).isAcknowledged());
    Checks.check("get settings", () -> es.indices().getSettings(new GetSettingsRequest().indices("lines").includeDefaults(true), DEFAULT).getIndexToSettings());
    Checks.check("get index", () -> es.indices().get(new GetIndexRequest("lines").includeDefaults(true), DEFAULT).getMappings());
    Checks.check("flush", () -> es.indices().flush(new FlushRequest("lines"), DEFAULT).getStatus());
    Checks.check("forcemerge", () -> es.indices().forcemerge(new ForceMergeRequest("lines"), DEFAULT).getStatus());
    Checks.check("clear cache", () -> es.indices().clearCache(new ClearIndicesCacheRequest("lines"), DEFAULT).getStatus());
    Checks.check("block", () -> es.indices().putSettings(new UpdateSettingsRequest("lines").settings(Map.of("index.blocks.write", true)), DEFAULT).isAcknowledged());
    Checks.check("shrink", () -> es.indices().shrink(new ResizeRequest("shrunk", "lines"), DEFAULT).isAcknowledged());
    Checks.check("unblock", () -> es.indices().putSettings(new UpdateSettingsRequest("lines").settings(Map.of("index.blocks.write", false)), DEFAULT).isAcknowledged());
    Checks.check("rollover", () -> {
      es.indices().create(new CreateIndexRequest("rolled-000001").alias(new org.elasticsearch.action.admin.indices.alias.Alias("rolled").writeIndex(true)), DEFAULT);
      return es.indices().rollover(new RolloverRequest("rolled", null).addMaxIndexDocsCondition(100), DEFAULT).getConditionStatus();
    });
    Checks.check("close", () -> Version.close(es, "shrunk"));
    Checks.check("open", () -> es.indices().open(new OpenIndexRequest("shrunk"), DEFAULT).isAcknowledged());
    Checks.check("put template", () -> es.indices().putTemplate(new PutIndexTemplateRequest("old").patterns(List.of("old-*")).settings(Settings.builder().put("number_of_shards", 1)), DEFAULT).isAcknowledged());
    Checks.check("get template", () -> es.indices().getIndexTemplate(new GetIndexTemplatesRequest("old"), DEFAULT).getIndexTemplates());
    Checks.check("exists template", () -> es.indices().existsTemplate(new IndexTemplatesExistRequest("old"), DEFAULT));
    Checks.check("delete template", () -> es.indices().deleteTemplate(new DeleteIndexTemplateRequest("old"), DEFAULT).isAcknowledged());
  }

  private static void cluster() {
    Checks.check("health", () -> es.cluster().health(new ClusterHealthRequest(), DEFAULT).getStatus());
    Checks.check("health of indices", () -> {
      ClusterHealthRequest request = new ClusterHealthRequest("lines");
      request.level(ClusterHealthRequest.Level.SHARDS);
      return es.cluster().health(request, DEFAULT).getIndices();
    });
    Checks.check("put settings of the cluster", () -> es.cluster().putSettings(new ClusterUpdateSettingsRequest().transientSettings(Map.of("search.max_buckets", 10000)), DEFAULT).getTransientSettings());
    Checks.check("get settings of the cluster", () -> es.cluster().getSettings(new ClusterGetSettingsRequest().includeDefaults(true), DEFAULT).getDefaultSettings());
    Checks.check("put pipeline", () -> es.ingest().putPipeline(new PutPipelineRequest("p", new BytesArray("{\"processors\":[{\"set\":{\"field\":\"seen\",\"value\":true}}]}"), Version.JSON), DEFAULT).isAcknowledged());
    Checks.check("get pipeline", () -> es.ingest().getPipeline(new GetPipelineRequest("p"), DEFAULT).pipelines());
    Checks.check("simulate", () -> {
      SimulatePipelineRequest request = new SimulatePipelineRequest(new BytesArray("{\"docs\":[{\"_source\":{}}]}"), Version.JSON);
      request.setId("p");
      es.ingest().simulate(request, DEFAULT).getResults();
      request.setVerbose(true);
      return es.ingest().simulate(request, DEFAULT).getResults();
    });
    Checks.check("delete pipeline", () -> es.ingest().deletePipeline(new DeletePipelineRequest("p"), DEFAULT).isAcknowledged());
  }

  private static void snapshots() {
    Checks.check("put repository", () -> es.snapshot().createRepository(new PutRepositoryRequest("repo").type("fs").settings(Settings.builder().put("location", "repo")), DEFAULT).isAcknowledged());
    Checks.check("get repository", () -> es.snapshot().getRepository(new GetRepositoriesRequest(), DEFAULT).repositories());
    Checks.check("verify repository", () -> es.snapshot().verifyRepository(new VerifyRepositoryRequest("repo"), DEFAULT).getNodes());
    Checks.check("take snapshot", () -> es.snapshot().create(new CreateSnapshotRequest("repo", "s1").indices("lines").waitForCompletion(true), DEFAULT).getSnapshotInfo().state());
    Checks.check("get snapshot", () -> es.snapshot().get(new GetSnapshotsRequest("repo").snapshots(new String[] {"s1"}), DEFAULT).getSnapshots());
    Checks.check("status of snapshot", () -> es.snapshot().status(new SnapshotsStatusRequest("repo", new String[] {"s1"}), DEFAULT).getSnapshots().get(0).getIndices());
    Checks.check("restore", () -> es.snapshot().restore(new RestoreSnapshotRequest("repo", "s1").renamePattern("lines").renameReplacement("back").includeAliases(false).waitForCompletion(true), DEFAULT).getRestoreInfo());
    Checks.check("delete snapshot", () -> es.snapshot().delete(new DeleteSnapshotRequest("repo", "s1"), DEFAULT).isAcknowledged());
    Checks.check("delete repository", () -> es.snapshot().deleteRepository(new DeleteRepositoryRequest("repo"), DEFAULT).isAcknowledged());
  }

  private static void endings() {
    Checks.check("license", () -> es.license().getLicense(new org.elasticsearch.client.license.GetLicenseRequest(), DEFAULT).getLicenseDefinition());
    Checks.check("delete indices", () -> es.indices().delete(new DeleteIndexRequest("lines"), DEFAULT).isAcknowledged());
  }
}
