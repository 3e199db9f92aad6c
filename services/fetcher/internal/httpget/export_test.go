package httpget

// Target is the request's address as net/http gets it.
var Target = target
