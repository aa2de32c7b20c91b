import java.util.List;
import java.util.Map;
import org.elasticsearch.action.bulk.BulkProcessor;
import org.elasticsearch.action.delete.DeleteRequest;
import org.elasticsearch.action.explain.ExplainRequest;
import org.elasticsearch.action.get.GetRequest;
import org.elasticsearch.action.get.MultiGetRequest;
import org.elasticsearch.action.index.IndexRequest;
import org.elasticsearch.action.search.ClosePointInTimeRequest;
import org.elasticsearch.action.search.OpenPointInTimeRequest;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.update.UpdateRequest;
import org.elasticsearch.client.RequestOptions;
import org.elasticsearch.client.RestHighLevelClient;
import org.elasticsearch.client.asyncsearch.DeleteAsyncSearchRequest;
import org.elasticsearch.client.asyncsearch.GetAsyncSearchRequest;
import org.elasticsearch.client.asyncsearch.SubmitAsyncSearchRequest;
import org.elasticsearch.client.core.TermVectorsRequest;
import org.elasticsearch.client.indices.AnalyzeRequest;
import org.elasticsearch.client.indices.CloseIndexRequest;
import org.elasticsearch.client.indices.CreateDataStreamRequest;
import org.elasticsearch.client.indices.DataStreamsStatsRequest;
import org.elasticsearch.client.indices.DeleteComponentTemplateRequest;
import org.elasticsearch.client.indices.DeleteComposableIndexTemplateRequest;
import org.elasticsearch.client.indices.DeleteDataStreamRequest;
import org.elasticsearch.client.indices.GetComponentTemplatesRequest;
import org.elasticsearch.client.indices.GetComposableIndexTemplateRequest;
import org.elasticsearch.client.indices.GetDataStreamRequest;
import org.elasticsearch.client.indices.PutComponentTemplateRequest;
import org.elasticsearch.client.indices.PutComposableIndexTemplateRequest;
import org.elasticsearch.cluster.metadata.ComponentTemplate;
import org.elasticsearch.cluster.metadata.ComposableIndexTemplate;
import org.elasticsearch.cluster.metadata.Template;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.builder.PointInTimeBuilder;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.xcontent.XContentType;

/** What requests of 7.17 look like. */
final class Version {
  static final TimeValue MINUTE = TimeValue.timeValueMinutes(1);
  static final XContentType JSON = XContentType.JSON;

  private Version() {}

  static IndexRequest index(String index) {
    return new IndexRequest(index);
  }

  static GetRequest get(String index, String id) {
    return new GetRequest(index, id);
  }

  static MultiGetRequest.Item item(String index, String id) {
    return new MultiGetRequest.Item(index, id);
  }

  static UpdateRequest update(String index, String id) {
    return new UpdateRequest(index, id);
  }

  static DeleteRequest delete(String index, String id) {
    return new DeleteRequest(index, id);
  }

  static TermVectorsRequest termVectors(String index, String id) {
    return new TermVectorsRequest(index, id);
  }

  static ExplainRequest explain(String index, String id) {
    return new ExplainRequest(index, id);
  }

  static BulkProcessor.Builder processor(RestHighLevelClient es, BulkProcessor.Listener listener) {
    return BulkProcessor.builder((request, done) -> es.bulkAsync(request, RequestOptions.DEFAULT, done), listener, "lines");
  }

  static Object analyze(RestHighLevelClient es) throws Exception {
    return es.indices().analyze(AnalyzeRequest.withGlobalAnalyzer("standard", "Two Words"), RequestOptions.DEFAULT).getTokens();
  }

  static Object close(RestHighLevelClient es, String index) throws Exception {
    return es.indices().close(new CloseIndexRequest(index), RequestOptions.DEFAULT).isAcknowledged();
  }

  /** What 7 has beside the methods of 6. */
  static void more(RestHighLevelClient es) {
    RequestOptions options = RequestOptions.DEFAULT;
    Checks.check("point in time", () -> {
      String id = es.openPointInTime(new OpenPointInTimeRequest("lines").keepAlive(MINUTE), options).getPointInTimeId();
      SearchSourceBuilder source = new SearchSourceBuilder().size(100).sort("_shard_doc").pointInTimeBuilder(new PointInTimeBuilder(id).setKeepAlive(MINUTE));
      int found = 0;
      while (true) {
        SearchHit[] hits = es.search(new SearchRequest().source(source), options).getHits().getHits();
        if (hits.length == 0) break;
        found += hits.length;
        source.searchAfter(hits[hits.length - 1].getSortValues());
      }
      Checks.equal(found > 100, true);
      return es.closePointInTime(new ClosePointInTimeRequest(id), options).getNumFreed();
    });
    Checks.check("async search", () -> {
      SubmitAsyncSearchRequest submit = new SubmitAsyncSearchRequest(new SearchSourceBuilder().size(1), "lines");
      submit.setKeepOnCompletion(true);
      submit.setWaitForCompletionTimeout(MINUTE);
      String id = es.asyncSearch().submit(submit, options).getId();
      Checks.equal(es.asyncSearch().get(new GetAsyncSearchRequest(id), options).isRunning(), false);
      return es.asyncSearch().delete(new DeleteAsyncSearchRequest(id), options).isAcknowledged();
    });
    Checks.check("component template", () -> {
      Template template = new Template(Settings.builder().put("number_of_shards", 1).build(), null, Map.of());
      es.cluster().putComponentTemplate(new PutComponentTemplateRequest().name("parts").componentTemplate(new ComponentTemplate(template, 1L, Map.of())), options);
      return es.cluster().getComponentTemplate(new GetComponentTemplatesRequest("parts"), options).getComponentTemplates();
    });
    Checks.check("composable template", () -> {
      ComposableIndexTemplate template = new ComposableIndexTemplate(List.of("stream-*"), null, List.of("parts"), 200L, 1L, Map.of(), new ComposableIndexTemplate.DataStreamTemplate());
      es.indices().putIndexTemplate(new PutComposableIndexTemplateRequest().name("streams").indexTemplate(template), options);
      return es.indices().getIndexTemplate(new GetComposableIndexTemplateRequest("streams"), options).getIndexTemplates();
    });
    Checks.check("data streams", () -> {
      es.indices().createDataStream(new CreateDataStreamRequest("stream-a"), options);
      es.indices().getDataStream(new GetDataStreamRequest("stream-a"), options).getDataStreams().get(0).getIndices();
      es.indices().dataStreamsStats(new DataStreamsStatsRequest("stream-a"), options).getDataStreams();
      es.indices().deleteDataStream(new DeleteDataStreamRequest("stream-a"), options);
      es.indices().deleteIndexTemplate(new DeleteComposableIndexTemplateRequest("streams"), options);
      return es.cluster().deleteComponentTemplate(new DeleteComponentTemplateRequest("parts"), options);
    });
  }
}
