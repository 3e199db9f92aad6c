module github.com/warrenmq/warren/test

go 1.26.0

require (
	github.com/warrenmq/warren/cmd/warren v0.0.0
	github.com/warrenmq/warren/libs v0.0.0
	github.com/warrenmq/warren/libs/mq v0.0.0
	github.com/warrenmq/warren/services/dedup v0.0.0
	github.com/warrenmq/warren/services/fetcher v0.0.0
	github.com/warrenmq/warren/services/parser v0.0.0
	github.com/warrenmq/warren/services/store v0.0.0
)

replace github.com/warrenmq/warren/libs => ../libs

replace github.com/warrenmq/warren/libs/mq => ../libs/mq

replace github.com/warrenmq/warren/services/fetcher => ../services/fetcher

replace github.com/warrenmq/warren/services/parser => ../services/parser

replace github.com/warrenmq/warren/services/dedup => ../services/dedup

replace github.com/warrenmq/warren/services/store => ../services/store

replace github.com/warrenmq/warren/cmd/warren => ../cmd/warren
