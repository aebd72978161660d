package scripts

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// serve is a server over stdio for the scripts: its arguments say how it
// misbehaves, and standard input is read to its end otherwise.
func serve() {
	mode := strings.Join(os.Args[1:], " ")
	switch mode {
	case "exits":
		fmt.Fprintln(os.Stderr, "API_KEY is not set")
		os.Exit(1)
	case "prints":
		fmt.Println("listening on stdio")
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil || request.ID == nil || mode == "hangs" {
			continue
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", request.ID, answer(request.Method))
	}
}

func answer(method string) string {
	switch method {
	case "initialize":
		return `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"server","version":"1"}}`
	case "tools/list":
		return `"result":{"tools":[{"name":"get_a","annotations":{"readOnlyHint":true}},{"name":"b"},"c"]}`
	}
	return `"error":{"code":-32601,"message":"Method not found"}`
}
