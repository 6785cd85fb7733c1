//! `toolwright serve`: all tools for agents. Standard output belongs to the protocol; the log is on
//! standard error.

use std::sync::Arc;

use anyhow::bail;
use tokio_util::sync::CancellationToken;
use toolwright_catalog::CatalogEvent;
use toolwright_serve::{HttpError, HttpServer, McpHandler, serve_stdio};
use toolwright_source::Severity;
use toolwright_workspace::ReadOptions;

use crate::args::ServeArgs;
use crate::output::Exit;
use crate::{environment, messages, report, runtime, sources};

pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<Exit> {
    let runtime = runtime::runtime()?;
    let result = runtime.block_on(serve(args));
    // A blocked read of standard input must not hold up the end.
    runtime.shutdown_background();
    toolwright_exec::kill_all_processes();
    result
}

async fn serve(args: &ServeArgs) -> anyhow::Result<Exit> {
    let planner = sources::planner(&args.source, ReadOptions::default())?;
    let plan = planner();
    if plan.specs.is_empty() {
        for diagnostic in &plan.diagnostics {
            messages::note(&toolwright_source::render::concise(diagnostic));
        }
        match plan.failures.first() {
            Some(failure) => bail!("{failure}"),
            None => bail!("there is no source that could be served"),
        }
    }
    let reads_stdin = args.source.from.iter().any(|source| source == "-");
    if reads_stdin && args.http.is_none() {
        bail!(
            "standard input is where the agent talks, so `-` cannot be a source (use --http, or a file)"
        );
    }
    let catalog = sources::catalog(
        &args.source,
        ReadOptions::default(),
        runtime::executor_context(runtime::log()),
        Arc::new(tell),
    )?;
    let handler = McpHandler::new(Arc::clone(&catalog), plan.startup);
    let until = CancellationToken::new();
    end_on_signals(&until);
    match &args.http {
        None => {
            catalog.follow(&until);
            let served = serve_stdio(handler, until.clone()).await;
            until.cancel();
            catalog.runner().close().await;
            served.map_err(anyhow::Error::msg)?;
        }
        Some(address) => {
            let token = environment::variable("TOOLWRIGHT_TOKEN")
                .map(|token| token.trim().to_owned())
                .filter(|token| !token.is_empty());
            let http = HttpServer::bind(address, token).await.map_err(|error| match error {
                HttpError::NoToken(_) => {
                    anyhow::anyhow!(
                        "{error}: put one into TOOLWRIGHT_TOKEN, or listen on 127.0.0.1"
                    )
                }
                other => other.into(),
            })?;
            messages::note(&format!("listening on {}", http.url()));
            catalog.follow(&until);
            http.serve(handler, until.clone()).await;
            catalog.runner().close().await;
        }
    }
    Ok(Exit::Clean)
}

fn tell(event: &CatalogEvent) {
    match event {
        CatalogEvent::Loaded { source, ready, aside: 0 } => {
            messages::note(&format!("{source}: {}", report::plural(*ready, "tool")));
        }
        CatalogEvent::Loaded { source, ready, aside } => {
            let ready = report::plural(*ready, "tool");
            messages::note(&format!("{source}: {ready}, {aside} set aside because of errors"));
        }
        CatalogEvent::Problem(diagnostic) if diagnostic.severity < Severity::Error => {}
        event => {
            messages::sentence(event).into_iter().for_each(|sentence| messages::note(&sentence))
        }
    }
}

/// The first signal asks for an orderly end, the second for an end.
fn end_on_signals(until: &CancellationToken) {
    let until = until.clone();
    tokio::spawn(async move {
        runtime::interrupted().await;
        messages::note("ending");
        until.cancel();
        runtime::interrupted().await;
        toolwright_exec::kill_all_processes();
        std::process::exit(1);
    });
}
