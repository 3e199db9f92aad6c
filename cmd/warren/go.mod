module github.com/warrenmq/warren/cmd/warren

go 1.26.0

require (
	github.com/warrenmq/warren/libs v0.0.0
	github.com/warrenmq/warren/libs/mq v0.0.0
)

require (
	github.com/prometheus/client_golang v1.25.0 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/urfave/cli/v3 v3.14.0 // indirect
)

replace github.com/warrenmq/warren/libs => ../../libs

replace github.com/warrenmq/warren/libs/mq => ../../libs/mq
