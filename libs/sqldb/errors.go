package sqldb

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// Transient tells whether the same work may succeed later with nothing changed: the connection was
// lost, the server is stopping, full, read-only or busy, a lock or a deadline ran out, or another
// transaction was in the way. SQLSTATEs are PostgreSQL's appendix A. The end of the caller's own
// context by cancellation is not transient: nobody waits for the answer.
func Transient(err error) bool {
	if err == nil {
		return false
	}
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return transientState(answer.Code)
	}
	if errors.Is(err, context.Canceled) {
		return false
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[net.Error](err)
	return connecting || network || pgconn.SafeToRetry(err) || pgconn.Timeout(err) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, pgconn.ErrConnClosed)
}

func transientState(code string) bool {
	switch code {
	case "25006", // read-only transaction: a fail-over to a standby is under way
		"25P03", "25P04", // idle in transaction, transaction timeout
		"55006", "55P03", // object in use, lock not available
		"57014": // query cancelled: statement_timeout
		return true
	}
	switch code[:min(len(code), 2)] {
	case "08", // connection exception
		"40", // rollback: serialization failure, deadlock
		"53", // insufficient resources: disk full, out of memory, too many connections
		"57", // operator intervention: shutdown, crash recovery, database dropped
		"58": // system error outside PostgreSQL: I/O
		return true
	}
	return false
}

// Permanent tells whether the row itself is at fault, so that no waiting helps: bad data (class 22),
// a broken constraint (23), or a size limit (54000 program limit exceeded, 54011 too many columns,
// 54023 too many arguments). An error may be neither transient nor permanent: a missing table, for
// example, is an operator's to mend.
func Permanent(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch answer.Code[:min(len(answer.Code), 2)] {
	case "22", "23":
		return true
	case "54":
		return answer.Code != "54001" // statement too complex: stack depth, an operator's setting
	}
	return false
}
