module github.com/warrenmq/warren/services/parser

go 1.26.0

require (
	github.com/warrenmq/warren/libs v0.0.0
	github.com/warrenmq/warren/libs/mq v0.0.0
)

require (
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/prometheus/client_golang v1.25.0 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/warrenmq/warren/libs => ../../libs

replace github.com/warrenmq/warren/libs/mq => ../../libs/mq
