// The shop on mcp-go.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

type sale struct {
	Item  string `json:"item"`
	Count int    `json:"count,omitempty"`
}

type order struct {
	Order struct {
		Address struct {
			City string `json:"city"`
		} `json:"address"`
		Lines []sale `json:"lines"`
	} `json:"order"`
}

// serve offers the shop over stdio, or over Streamable HTTP on a port of 127.0.0.1.
func serve(args []string) error {
	shop := server.NewMCPServer("shop", "1.0.0",
		server.WithToolCapabilities(true),
		server.WithInstructions("Prices are in euros."),
		server.WithInputSchemaValidation())
	tool := func(name, description string, handle server.ToolHandlerFunc, options ...mcp.ToolOption) {
		shop.AddTool(mcp.NewTool(name, append(options, mcp.WithDescription(description))...), handle)
	}
	tool("price", "The price of some items.", mcp.NewTypedToolHandler(price), mcp.WithInputSchema[sale]())
	tool("stock", "What the shop has, as data only.", stock)
	tool("ship", "Ships an order.", mcp.NewTypedToolHandler(ship), mcp.WithInputSchema[order]())
	tool("receipt", "A link to the last receipt.", receipt)
	tool("pack", "Packs three boxes, and reports each.", pack)
	tool("unlock", "Unlocks the tool `cellar`.", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		// The server tells its clients.
		tool("cellar", "What is in the cellar.", cellar)
		return mcp.NewToolResultText("unlocked"), nil
	})
	if len(args) == 0 {
		return server.ServeStdio(shop)
	}
	return server.NewStreamableHTTPServer(shop).Start("127.0.0.1:" + args[0])
}

func price(_ context.Context, _ mcp.CallToolRequest, asked sale) (*mcp.CallToolResult, error) {
	if asked.Item != "apple" {
		return mcp.NewToolResultError("no such item: " + asked.Item), nil
	}
	count := max(asked.Count, 1)
	return mcp.NewToolResultText(fmt.Sprintf("%d of %s: %d euros", count, asked.Item, 2*count)), nil
}

func stock(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: map[string]int{"apple": 3, "pear": 0}}, nil
}

func ship(_ context.Context, _ mcp.CallToolRequest, asked order) (*mcp.CallToolResult, error) {
	items := 0
	for _, line := range asked.Order.Lines {
		items += max(line.Count, 1)
	}
	return mcp.NewToolResultText(fmt.Sprintf("%d items to %s", items, asked.Order.Address.City)), nil
}

func receipt(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	link := mcp.NewResourceLink("shop://receipts/1", "receipt", "the last sale", "")
	return &mcp.CallToolResult{Content: []mcp.Content{link}}, nil
}

func pack(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if meta := request.Params.Meta; meta != nil && meta.ProgressToken != nil {
		for box := 1; box <= 3; box++ {
			report := map[string]any{
				"progressToken": meta.ProgressToken, "progress": box, "total": 3, "message": fmt.Sprintf("box %d", box),
			}
			if err := server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", report); err != nil {
				return nil, err
			}
			// mcp-go sends reports beside its answers, and so would send some after the answer.
			time.Sleep(20 * time.Millisecond)
		}
	}
	return mcp.NewToolResultText("packed"), nil
}

func cellar(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText("cider"), nil
}
