package webtest_test

import (
	"net/http/httptest"
	"testing"

	"github.com/warrenmq/warren/libs/webtest"
)

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		webtest.New(webtest.Options{})
	}
}

func BenchmarkTruth(b *testing.B) {
	web := webtest.New(webtest.Options{})
	b.ReportAllocs()
	for b.Loop() {
		web.Truth()
	}
}

func BenchmarkServe(b *testing.B) {
	web := webtest.New(webtest.Options{})
	req := httptest.NewRequest("GET", "http://h003.web.test/p/1.html", nil)
	b.ReportAllocs()
	for b.Loop() {
		web.ServeHTTP(httptest.NewRecorder(), req)
	}
}
