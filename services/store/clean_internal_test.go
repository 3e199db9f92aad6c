package store

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/warrenmq/warren/libs/contract"
)

const dirty = "a\x00b\xffc"

// spoil puts dirty text into every string below v, whatever fields contract.Page will have.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(dirty)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				spoil(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			spoil(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		spoil(key)
		spoil(value)
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		spoil(v.Elem())
	}
}

// look reports every string below v that is not clean, and returns how many strings there are.
func look(t *testing.T, path string, v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); strings.ContainsRune(s, 0) || !utf8.ValidString(s) || s == "" {
			t.Errorf("%s is %q", path, s)
		}
		return 1
	case reflect.Struct:
		if v.Type().PkgPath() == "time" {
			return 0
		}
		for i := range v.NumField() {
			n += look(t, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += look(t, path+"[]", v.Index(i))
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			n += look(t, path+" key", it.Key()) + look(t, path+" value", it.Value())
		}
	case reflect.Pointer:
		n += look(t, path, v.Elem())
	}
	return n
}

func TestCleanReachesEveryText(t *testing.T) {
	t.Parallel()
	var page contract.Page
	spoil(reflect.ValueOf(&page).Elem())
	clean(&page)
	if n := look(t, "Page", reflect.ValueOf(page)); n < 25 {
		t.Errorf("looked at %d texts only", n)
	}
	if page.Title != "a\uFFFDb\uFFFDc" {
		t.Errorf("title is %q", page.Title)
	}
}
