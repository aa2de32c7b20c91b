import org.elasticsearch.action.admin.indices.analyze.AnalyzeRequest;
import org.elasticsearch.action.admin.indices.close.CloseIndexRequest;
import org.elasticsearch.action.bulk.BulkProcessor;
import org.elasticsearch.action.delete.DeleteRequest;
import org.elasticsearch.action.explain.ExplainRequest;
import org.elasticsearch.action.get.GetRequest;
import org.elasticsearch.action.get.MultiGetRequest;
import org.elasticsearch.action.index.IndexRequest;
import org.elasticsearch.action.update.UpdateRequest;
import org.elasticsearch.client.RequestOptions;
import org.elasticsearch.client.RestHighLevelClient;
import org.elasticsearch.client.core.TermVectorsRequest;
import org.elasticsearch.common.unit.TimeValue;
import org.elasticsearch.common.xcontent.XContentType;

/** What requests of 6.8 look like. */
final class Version {
  static final TimeValue MINUTE = TimeValue.timeValueMinutes(1);
  static final XContentType JSON = XContentType.JSON;

  private Version() {}

  static IndexRequest index(String index) {
    return new IndexRequest(index, "_doc");
  }

  static GetRequest get(String index, String id) {
    return new GetRequest(index, "_doc", id);
  }

  static MultiGetRequest.Item item(String index, String id) {
    return new MultiGetRequest.Item(index, "_doc", id);
  }

  static UpdateRequest update(String index, String id) {
    return new UpdateRequest(index, "_doc", id);
  }

  static DeleteRequest delete(String index, String id) {
    return new DeleteRequest(index, "_doc", id);
  }

  static TermVectorsRequest termVectors(String index, String id) {
    return new TermVectorsRequest(index, "_doc", id);
  }

  static ExplainRequest explain(String index, String id) {
    return new ExplainRequest(index, "_doc", id);
  }

  static BulkProcessor.Builder processor(RestHighLevelClient es, BulkProcessor.Listener listener) {
    return BulkProcessor.builder((request, done) -> es.bulkAsync(request, RequestOptions.DEFAULT, done), listener);
  }

  static Object analyze(RestHighLevelClient es) throws Exception {
    return es.indices().analyze(new AnalyzeRequest().analyzer("standard").text("Two Words"), RequestOptions.DEFAULT).getTokens();
  }

  static Object close(RestHighLevelClient es, String index) throws Exception {
    return es.indices().close(new CloseIndexRequest(index), RequestOptions.DEFAULT).isAcknowledged();
  }

  static void more(RestHighLevelClient es) {}
}
