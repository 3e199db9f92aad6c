// Package sqldb opens PostgreSQL for the services that own tables.
//
//  1. [Config] comes from the environment (WARREN_DATABASE_…) and is checked before anything starts.
//  2. [Open] waits for the database, looks at what it promises (version, encoding, durability) and
//     returns a pool whose statements have a time limit.
//  3. [Migrate] brings a service's own tables up to date, safely with many replicas at once.
//  4. [Transient] and [Permanent] tell a database's trouble from a row's own fault.
//
// A service owns its tables and its version table; several services may share one database.
package sqldb
