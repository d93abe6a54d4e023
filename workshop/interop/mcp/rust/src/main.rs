//! A server and a client on rmcp. Arguments: "serve [port]", or "drive <mode> <server>".
mod drive;
mod shop;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args[0].as_str() {
        "drive" => drive::drive(&args[1], &args[2..]).await,
        _ => shop::serve(args.get(1)).await,
    }
}
