// A server on the official Go SDK, whose tools ask their client: for a model's text, for its folders, and for a person's answer.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type nothing struct{}

func text(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "asking", Version: "1"}, nil)
	add := func(name string, ask func(context.Context, *mcp.ServerSession) (string, error)) {
		mcp.AddTool(server, &mcp.Tool{Name: name, Description: "Asks the client."},
			func(ctx context.Context, request *mcp.CallToolRequest, _ nothing) (*mcp.CallToolResult, any, error) {
				said, err := ask(ctx, request.Session)
				return text(said), nil, err
			})
	}
	add("sample", func(ctx context.Context, session *mcp.ServerSession) (string, error) {
		message := &mcp.SamplingMessage{Role: "user", Content: &mcp.TextContent{Text: "Name a colour."}}
		result, err := session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 10, Messages: []*mcp.SamplingMessage{message}})
		if err != nil {
			return "", err
		}
		return result.Content.(*mcp.TextContent).Text, nil
	})
	add("roots", func(ctx context.Context, session *mcp.ServerSession) (string, error) {
		result, err := session.ListRoots(ctx, nil)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(len(result.Roots), " ", result.Roots[0].URI), nil
	})
	add("elicit", func(ctx context.Context, session *mcp.ServerSession) (string, error) {
		schema := map[string]any{"type": "object", "properties": map[string]any{"size": map[string]any{"type": "string"}}}
		result, err := session.Elicit(ctx, &mcp.ElicitParams{Message: "Which size?", RequestedSchema: schema})
		if err != nil {
			return "", err
		}
		return fmt.Sprint(result.Action, " ", result.Content["size"]), nil
	})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
