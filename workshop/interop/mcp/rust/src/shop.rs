//! The shop on rmcp.
use rmcp::{
    ErrorData, Peer, RoleServer, ServerHandler, ServiceExt,
    handler::server::wrapper::Parameters,
    model::{
        CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
        ProgressNotificationParam, RequestMetaObject, Resource, ServerCapabilities, ServerConfig,
        SubscriptionFilter,
    },
    schemars,
    service::{RequestContext, SubscriptionContext},
    tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use tokio::sync::watch;

#[derive(Deserialize, schemars::JsonSchema)]
struct Line {
    item: String,
    #[serde(default = "one")]
    count: u32,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Address {
    city: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Order {
    address: Address,
    lines: Vec<Line>,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Shipment {
    order: Order,
}

fn one() -> u32 {
    1
}

/// Its clones share whether the cellar is unlocked.
#[derive(Clone)]
struct Shop {
    unlocked: Arc<watch::Sender<bool>>,
}

/// Serves over stdio, or over Streamable HTTP on a port of 127.0.0.1.
pub async fn serve(port: Option<&String>) -> anyhow::Result<()> {
    let shop = Shop {
        unlocked: Arc::new(watch::Sender::new(false)),
    };
    let Some(port) = port else {
        shop.serve(rmcp::transport::stdio())
            .await?
            .waiting()
            .await?;
        return Ok(());
    };
    let sessions = Arc::new(LocalSessionManager::default());
    let service =
        StreamableHttpService::new(move || Ok(shop.clone()), sessions, Default::default());
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}

#[tool_router]
impl Shop {
    #[tool(description = "The price of some items.")]
    fn price(&self, Parameters(Line { item, count }): Parameters<Line>) -> Result<String, String> {
        match item.as_str() {
            "apple" => Ok(format!("{count} of apple: {} euros", 2 * count)),
            _ => Err(format!("no such item: {item}")),
        }
    }

    #[tool(description = "What the shop has, as data only.")]
    fn stock(&self) -> CallToolResult {
        let mut result = CallToolResult::structured(json!({ "apple": 3, "pear": 0 }));
        result.content.clear();
        result
    }

    #[tool(description = "Ships an order.")]
    fn ship(&self, Parameters(Shipment { order }): Parameters<Shipment>) -> String {
        let items: u32 = order.lines.iter().map(|line| line.count).sum();
        format!("{items} items to {}", order.address.city)
    }

    #[tool(description = "A link to the last receipt.")]
    fn receipt(&self) -> CallToolResult {
        let link = Resource::new("shop://receipts/1", "receipt").with_description("the last sale");
        CallToolResult::success(vec![ContentBlock::resource_link(link)])
    }

    #[tool(description = "Packs three boxes, and reports each.")]
    async fn pack(&self, meta: RequestMetaObject, client: Peer<RoleServer>) -> String {
        for number in 1..=3 {
            if let Some(token) = meta.get_progress_token() {
                let report = ProgressNotificationParam::new(token, number.into())
                    .with_total(3.0)
                    .with_message(format!("box {number}"));
                let _ = client.notify_progress(report).await;
            }
        }
        "packed".into()
    }

    #[tool(description = "Unlocks the tool `cellar`.")]
    async fn unlock(&self, client: Peer<RoleServer>) -> String {
        self.unlocked.send_replace(true);
        // Clients of MCP 2026-07-28 have subscribed instead.
        let _ = client.notify_tool_list_changed().await;
        "unlocked".into()
    }

    #[tool(description = "What is in the cellar.")]
    fn cellar(&self) -> String {
        "cider".into()
    }
}

#[tool_handler]
impl ServerHandler for Shop {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities).with_instructions("Prices are in euros.")
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = Self::tool_router().list_all();
        tools.retain(|tool| *self.unlocked.borrow() || tool.name != "cellar");
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut unlocked = self.unlocked.subscribe();
        tokio::select! {
            _ = unlocked.changed() => drop(subscription.sink().notify_tool_list_changed().await),
            _ = subscription.cancelled() => return Ok(()),
        }
        subscription.cancelled().await;
        Ok(())
    }
}
