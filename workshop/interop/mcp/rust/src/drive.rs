//! The client of rmcp, driven as ../../python/drive.py is.
use rmcp::{
    ClientLifecycleMode, ClientServiceExt, RoleClient,
    model::{
        CallToolRequestParams, ClientConfig, GetPromptRequestParams, JsonObject, ProtocolVersion,
    },
    service::RunningService,
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde::Deserialize;
use serde_json::{Value, json, to_value};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Request {
    tools: bool,
    prompt: Option<String>,
    call: Option<String>,
    arguments: JsonObject,
}

type Client = RunningService<RoleClient, ClientConfig>;

/// Answers the requests on stdin.
/// * `mode` - "legacy" or "auto".
/// * `target` - The URL of the server, or its command.
pub async fn drive(mode: &str, target: &[String]) -> anyhow::Result<()> {
    let client = connect(mode, target).await?;
    let version = &client
        .peer_info()
        .expect("the server says who it is")
        .protocol_version;
    println!("{}", json!({ "version": version }));
    let mut lines = BufReader::new(stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let reply = answer(&client, serde_json::from_str(&line)?).await;
        println!(
            "{}",
            reply.unwrap_or_else(|error| json!({ "error": error.to_string() }))
        );
    }
    client.cancel().await?;
    Ok(())
}

async fn connect(mode: &str, target: &[String]) -> anyhow::Result<Client> {
    let lifecycle = match mode {
        "legacy" => ClientLifecycleMode::Initialize,
        // The other mode, Auto, takes a server that needs 10 seconds to start for an older one.
        _ => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    let me = ClientConfig::default();
    if target[0].starts_with("http") {
        let transport = StreamableHttpClientTransport::from_uri(target[0].as_str());
        return Ok(me.serve_with_lifecycle(transport, lifecycle).await?);
    }
    let mut command = tokio::process::Command::new(&target[0]);
    command.args(&target[1..]);
    Ok(me
        .serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle)
        .await?)
}

async fn answer(client: &Client, request: Request) -> anyhow::Result<Value> {
    let Request {
        tools,
        prompt,
        call,
        arguments,
    } = request;
    if tools {
        return Ok(to_value(client.list_tools(None).await?)?);
    }
    if let Some(name) = prompt {
        return Ok(to_value(
            client.get_prompt(GetPromptRequestParams::new(name)).await?,
        )?);
    }
    let params = CallToolRequestParams::new(call.unwrap_or_default()).with_arguments(arguments);
    Ok(to_value(client.call_tool(params).await?)?)
}
