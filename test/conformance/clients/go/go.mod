module tailrace.example/clients

go 1.24

require github.com/elastic/go-elasticsearch/v7 v7.17.10
