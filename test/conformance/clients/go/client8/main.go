// Calls of the Go client of 8 against a hub: client8 URL.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/elastic/go-elasticsearch/v8/esutil"

	"tailrace.example/clients/checks"
)

const lines = 250

func main() {
	es, err := elasticsearch.NewClient(elasticsearch.Config{Addresses: []string{os.Args[1]}})
	if err != nil {
		panic(err)
	}
	read := func(response *esapi.Response, err error) (map[string]any, error) {
		if err != nil {
			return nil, err
		}
		return checks.Read(response, response.Body, nil)
	}
	does := func(name string, call func() (*esapi.Response, error)) {
		checks.Check(name, func() error {
			_, err := read(call())
			return err
		})
	}
	does("info", func() (*esapi.Response, error) { return es.Info() })
	checks.Check("bulk indexer", func() error {
		indexer, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{Client: es, Index: "lines", NumWorkers: 2, FlushBytes: 4096, Refresh: "true"})
		if err != nil {
			return err
		}
		for n := 0; n < lines; n++ {
			item := esutil.BulkIndexerItem{Action: "index", DocumentID: fmt.Sprint(n), Body: strings.NewReader(checks.Line(n))}
			if err := indexer.Add(context.Background(), item); err != nil {
				return err
			}
		}
		if err := indexer.Close(context.Background()); err != nil {
			return err
		}
		return checks.Equal(indexer.Stats().NumFlushed, lines)
	})
	checks.Check("scroll", func() error {
		page, err := read(es.Search(es.Search.WithIndex("lines"), es.Search.WithSize(60), es.Search.WithScroll(time.Minute)))
		found := 0
		for err == nil {
			hits := page["hits"].(map[string]any)["hits"].([]any)
			if len(hits) == 0 {
				break
			}
			found += len(hits)
			page, err = read(es.Scroll(es.Scroll.WithScrollID(page["_scroll_id"].(string)), es.Scroll.WithScroll(time.Minute)))
		}
		if err != nil {
			return err
		}
		return checks.Equal(found, lines)
	})
	checks.Check("point in time", func() error {
		opened, err := read(es.OpenPointInTime([]string{"lines"}, "1m"))
		if err != nil {
			return err
		}
		found := map[string]bool{}
		body := map[string]any{"size": 60, "sort": []any{map[string]any{"level.keyword": "asc"}}, "pit": map[string]any{"id": opened["id"], "keep_alive": "1m"}}
		for {
			text, _ := json.Marshal(body)
			page, err := read(es.Search(es.Search.WithBody(strings.NewReader(string(text)))))
			if err != nil {
				return err
			}
			hits := page["hits"].(map[string]any)["hits"].([]any)
			if len(hits) == 0 {
				break
			}
			for _, hit := range hits {
				found[hit.(map[string]any)["_id"].(string)] = true
			}
			body["search_after"] = hits[len(hits)-1].(map[string]any)["sort"]
		}
		text, _ := json.Marshal(map[string]any{"id": opened["id"]})
		if _, err := read(es.ClosePointInTime(es.ClosePointInTime.WithBody(strings.NewReader(string(text))))); err != nil {
			return err
		}
		return checks.Equal(len(found), lines)
	})
	checks.Check("async search", func() error {
		submit := es.AsyncSearch.Submit
		answer, err := read(submit(submit.WithIndex("lines"), submit.WithKeepOnCompletion(true), submit.WithWaitForCompletionTimeout(time.Minute)))
		if err != nil {
			return err
		}
		id := answer["id"].(string)
		for _, call := range []func() (*esapi.Response, error){
			func() (*esapi.Response, error) { return es.AsyncSearch.Get(id) },
			func() (*esapi.Response, error) { return es.AsyncSearch.Status(id) },
			func() (*esapi.Response, error) { return es.AsyncSearch.Delete(id) },
		} {
			if _, err := read(call()); err != nil {
				return err
			}
		}
		return checks.Equal(answer["is_running"], false)
	})
	does("index template", func() (*esapi.Response, error) {
		body := strings.NewReader(`{"index_patterns":["stream-*"],"data_stream":{}}`)
		return es.Indices.PutIndexTemplate("streams", body)
	})
	does("data stream", func() (*esapi.Response, error) { return es.Indices.CreateDataStream("stream-a") })
	does("delete data stream", func() (*esapi.Response, error) { return es.Indices.DeleteDataStream([]string{"stream-a"}) })
	does("delete index template", func() (*esapi.Response, error) { return es.Indices.DeleteIndexTemplate("streams") })
	does("lifecycle policy", func() (*esapi.Response, error) {
		body := strings.NewReader(`{"policy":{"phases":{"delete":{"min_age":"7d","actions":{"delete":{}}}}}}`)
		return es.ILM.PutLifecycle("logs", es.ILM.PutLifecycle.WithBody(body))
	})
	does("delete lifecycle policy", func() (*esapi.Response, error) { return es.ILM.DeleteLifecycle("logs") })
	does("update by query", func() (*esapi.Response, error) { return es.UpdateByQuery([]string{"lines"}) })
	does("cluster health", func() (*esapi.Response, error) { return es.Cluster.Health() })
	does("health report", func() (*esapi.Response, error) { return es.HealthReport() })
	does("field caps", func() (*esapi.Response, error) {
		return es.FieldCaps(es.FieldCaps.WithIndex("lines"), es.FieldCaps.WithFields("*"))
	})
	does("delete index", func() (*esapi.Response, error) { return es.Indices.Delete([]string{"lines"}) })
}
