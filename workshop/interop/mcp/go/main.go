// A server and a client on mcp-go. Arguments: "serve [port]", or "drive <mode> <server>".
package main

import (
	"fmt"
	"os"
)

func main() {
	run := func() error { return serve(os.Args[2:]) }
	if os.Args[1] == "drive" {
		run = func() error { return drive(os.Args[2], os.Args[3:]) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
