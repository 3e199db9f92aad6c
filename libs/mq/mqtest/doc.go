// Package mqtest tests what is built on mq.
//
//  1. [Bus] is an in-memory bus for the unit tests of services.
//  2. [Run] is the suite that every driver of mq must pass. A driver says what it cannot do, and
//     why; those tests are named in the log instead of run.
package mqtest
