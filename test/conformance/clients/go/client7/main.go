// Calls of the Go client of 7 against a hub: client7 URL.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v7"
	"github.com/elastic/go-elasticsearch/v7/esapi"
	"github.com/elastic/go-elasticsearch/v7/esutil"

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
	does("index template", func() (*esapi.Response, error) {
		body := strings.NewReader(`{"index_patterns":["stream-*"],"data_stream":{}}`)
		return es.Indices.PutIndexTemplate("streams", body)
	})
	does("data stream", func() (*esapi.Response, error) { return es.Indices.CreateDataStream("stream-a") })
	does("delete data stream", func() (*esapi.Response, error) { return es.Indices.DeleteDataStream([]string{"stream-a"}) })
	does("delete index template", func() (*esapi.Response, error) { return es.Indices.DeleteIndexTemplate("streams") })
	does("update by query", func() (*esapi.Response, error) { return es.UpdateByQuery([]string{"lines"}) })
	does("cluster health", func() (*esapi.Response, error) { return es.Cluster.Health() })
	does("field caps", func() (*esapi.Response, error) {
		return es.FieldCaps(es.FieldCaps.WithIndex("lines"), es.FieldCaps.WithFields("*"))
	})
	does("delete index", func() (*esapi.Response, error) { return es.Indices.Delete([]string{"lines"}) })
}
