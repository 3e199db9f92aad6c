package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"strings"

	"github.com/kelseyhightower/envconfig"
)

// prefix begins the name of every variable of Warren's.
const prefix = "WARREN"

// settings are the process's own.
type settings struct {
	Log       logSettings
	AdminAddr string `split_words:"true" desc:"host:port of the admin server; port 0 takes a free one"`
}

type logSettings struct {
	Level  slog.Level `desc:"debug, info, warn or error"`
	Format string     `desc:"auto (text on a terminal, else json), json or text"`
}

func defaultSettings() settings {
	return settings{Log: logSettings{Level: slog.LevelInfo, Format: "auto"}, AdminAddr: "127.0.0.1:8080"}
}

// Validate is called by fill.
func (s settings) Validate() error {
	if _, _, err := net.SplitHostPort(s.AdminAddr); err != nil {
		return fmt.Errorf("WARREN_ADMIN_ADDR=%q: want host:port, for example 127.0.0.1:8080 or :8080", s.AdminAddr)
	}
	switch s.Log.Format {
	case "auto", "json", "text":
		return nil
	}
	return fmt.Errorf("WARREN_LOG_FORMAT=%q: want auto, json or text", s.Log.Format)
}

// Load fills settings, a pointer to a struct that already holds the defaults, from the environment:
// field Window of field AMQP is WARREN_AMQP_WINDOW. Words are split where the field has the tag
// `split_words:"true"`. Then Validate() error is called on the struct and on each part that has it.
// It warns of WARREN_… variables that nobody reads, with the nearest name that somebody does.
// Its error names the variable, its value, and what is wanted; the exit status is 2.
func Load(log *slog.Logger, settings any) error {
	own := defaultSettings()
	known := append(variables(&own), variables(settings)...)
	for _, u := range unknown(known) {
		args := []any{"name", u.name}
		if u.nearest != "" {
			args = append(args, "did_you_mean", u.nearest)
		}
		log.Warn("an environment variable has no meaning", args...)
	}
	return fill(settings)
}

func fill(settings any) error {
	if err := envconfig.Process(prefix, settings); err != nil {
		parse, ok := errors.AsType[*envconfig.ParseError](err)
		if !ok {
			return BadSettings(fmt.Errorf("read settings: %w", err))
		}
		value := redact(parse.Value)
		if isSecret(parse.KeyName) {
			value = "***"
		}
		return BadSettings(fmt.Errorf("%s=%q: want %s", parse.KeyName, value, wanted(parse)))
	}
	if err := validate(prefix, reflect.ValueOf(settings)); err != nil {
		return BadSettings(err)
	}
	return nil
}

// wanted says in people's words what a type is read from.
func wanted(e *envconfig.ParseError) string {
	switch kind := strings.TrimPrefix(e.TypeName, "[]"); {
	case kind == "time.Duration":
		return "a duration with its unit, for example 500ms, 1.5s or 2m"
	case kind == "bool":
		return "true or false"
	case kind == "slog.Level":
		return "debug, info, warn or error"
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "a whole number that fits " + kind
	case strings.HasPrefix(kind, "float"):
		return "a number"
	default:
		return fmt.Sprintf("a value of type %s: %v", e.TypeName, e.Err)
	}
}

func isSecret(name string) bool {
	for _, word := range []string{"PASSWORD", "SECRET", "TOKEN"} {
		if strings.Contains(name, word) && !strings.HasSuffix(name, "_FILE") {
			return true
		}
	}
	return false
}

// validate calls Validate on v, or, if v has none, on each of its parts: a part checks its own parts.
func validate(name string, v reflect.Value) error {
	for v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().Kind() == reflect.Struct {
		if checker, ok := v.Interface().(interface{ Validate() error }); ok {
			return named(name, v.Elem().Type(), checker.Validate())
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	var errs []error
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || !v.Field(i).CanAddr() {
			continue
		}
		section := name
		if !field.Anonymous {
			section += "_" + variableName(field)
		}
		errs = append(errs, validate(section, v.Field(i).Addr()))
	}
	return errors.Join(errs...)
}
