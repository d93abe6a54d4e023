// The client of mcp-go, driven as ../python/drive.py is.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

type request struct {
	Tools     bool           `json:"tools"`
	Prompt    string         `json:"prompt"`
	Call      string         `json:"call"`
	Arguments map[string]any `json:"arguments"`
}

// drive answers the requests on stdin. Its arguments are "legacy" or "auto", and the URL of the server or its command.
func drive(mode string, target []string) error {
	ctx := context.Background()
	peer, err := connect(ctx, target)
	if err != nil {
		return err
	}
	defer peer.Close()
	if mode == "legacy" {
		client.WithLegacyProtocolOnly()(peer)
	}
	// By default, a server that needs 5 seconds to start is taken for an older one.
	client.WithDiscoverTimeout(time.Minute)(peer)
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: "drive", Version: "1.0.0"}
	if _, err := peer.Initialize(ctx, hello); err != nil {
		return err
	}
	replies := json.NewEncoder(os.Stdout)
	replies.Encode(map[string]string{"version": peer.ProtocolVersion()})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		reply, err := answer(ctx, peer, asked)
		if err != nil {
			reply = map[string]string{"error": err.Error()}
		}
		replies.Encode(reply)
	}
	return nil
}

func connect(ctx context.Context, target []string) (*client.Client, error) {
	if !strings.HasPrefix(target[0], "http") {
		return client.NewStdioMCPClient(target[0], os.Environ(), target[1:]...)
	}
	peer, err := client.NewStreamableHttpClient(target[0])
	if err != nil {
		return nil, err
	}
	return peer, peer.Start(ctx)
}

func answer(ctx context.Context, peer *client.Client, asked request) (any, error) {
	if asked.Tools {
		return peer.ListTools(ctx, mcp.ListToolsRequest{})
	}
	if asked.Prompt != "" {
		var prompt mcp.GetPromptRequest
		prompt.Params.Name = asked.Prompt
		return peer.GetPrompt(ctx, prompt)
	}
	var call mcp.CallToolRequest
	call.Params.Name, call.Params.Arguments = asked.Call, asked.Arguments
	return peer.CallTool(ctx, call)
}
