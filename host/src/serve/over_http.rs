//! The same server over HTTP: where it listens, and which clients it serves.

use std::{net::SocketAddr, pin::Pin, sync::Arc};

use belljar_config::HttpSettings;
use belljar_host_protocol::Runner;
use belljar_http::{Listener, Metrics, MetricsText, Options, Principal, ResourceServer, Tokens};
use belljar_telemetry::CONTENT_TYPE;
use futures::FutureExt as _;
use tokio::{net::TcpListener, sync::watch};

use super::{Server, authorization::resource_server, socket::Socket};
use crate::{
    arguments::ServeArguments,
    backend::{Generations, HostAsker, HostRunner},
    failure::Failure,
    output, page, setup, tokens,
};

/// Open listeners, and their limits and names.
pub(crate) struct OverHttp {
    listeners: Vec<Listener>,
    options: Options,
    tokens: watch::Receiver<Arc<Tokens>>,
    oauth: Option<ResourceServer>,
    has_page: bool,
    watching: Pin<Box<dyn Future<Output = ()> + Send>>,
    _socket: Option<Socket>,
}

impl OverHttp {
    /// Listens where the arguments say, or not at all if they say stdin and stdout.
    pub(crate) async fn listen(arguments: &ServeArguments, settings: &HttpSettings) -> Result<Option<Self>, Failure> {
        let socket = arguments.socket();
        if arguments.http.is_none() && socket.is_none() {
            if !arguments.allow_host.is_empty() || !arguments.allow_origin.is_empty() {
                return Err(Failure::usage("--allow-host and --allow-origin are for --http", "add --http"));
            }
            return Ok(None);
        }
        let oauth = settings.oauth.as_ref().map(resource_server).transpose()?;
        let (tokens, watching) = tokens::watch(setup::needed_state_folder()?)?;
        let mut options = Options {
            hosts: arguments.allow_host.clone(),
            origins: arguments.allow_origin.clone(),
            ..Options::default()
        };
        let mut listeners = Vec::new();
        if let Some(asked) = arguments.http {
            let has_tokens = !tokens.borrow().is_empty();
            let (listener, address) = tcp(asked, has_tokens || oauth.is_some()).await?;
            options = options.at(address);
            listeners.push(Listener::Tcp(listener));
            output::remark(format_args!("serving MCP at http://{address}/mcp"));
            if arguments.ui {
                output::remark(format_args!("the page is at http://{address}/ui/, for tokens with the scope admin"));
            }
            if let Some(settings) = &settings.oauth {
                output::remark(format_args!("tokens of {} for {} are taken", settings.issuer, settings.resource));
            } else if !has_tokens {
                output::note("there is no token yet, so nobody can connect; 'belljar token add NAME' makes one");
            }
        } else {
            // A client that speaks HTTP through a socket uses an arbitrary name for it.
            options = options.at(SocketAddr::from(([127, 0, 0, 1], 80)));
        }
        let _socket = match socket {
            None => None,
            Some(path) => {
                let (listener, socket) = Socket::bind(path).await?;
                listeners.push(listener);
                output::remark(format_args!("serving MCP over HTTP at {}", path.display()));
                Some(socket)
            }
        };
        Ok(Some(Self {
            listeners,
            options,
            tokens,
            oauth,
            has_page: arguments.ui,
            watching: Box::pin(watching),
            _socket,
        }))
    }

    /// Serves until told to end, and until running requests have ended, or their time is over. With
    /// generations in this process, it speaks the host protocol too.
    pub(crate) async fn serve(
        self,
        server: Server,
        generations: Option<Arc<Generations>>,
        told_to_end: impl Future<Output = ()>,
    ) {
        let serving = belljar_http::Server::new(server, self.options, self.tokens);
        let serving = match generations {
            Some(generations) => {
                generations.begin_telemetry();
                let counted = generations.clone();
                let host = move |principal: &Principal| -> Arc<dyn Runner> {
                    Arc::new(HostRunner::new(generations.clone(), HostAsker::of(principal)))
                };
                let serving = serving.with_host(Arc::new(host)).with_metrics(metrics(counted.clone()));
                if self.has_page { serving.with_page(page::embedded(counted)) } else { serving }
            }
            None => serving,
        };
        let serving = match self.oauth {
            Some(oauth) => serving.with_oauth(oauth),
            None => serving,
        };
        tokio::select! {
            () = serving.serve(self.listeners, told_to_end) => {}
            () = self.watching => {}
        }
    }
}

/// What `/metrics` answers.
fn metrics(generations: Arc<Generations>) -> Metrics {
    Arc::new(move || {
        let generations = generations.clone();
        async move { MetricsText { content_type: CONTENT_TYPE, text: generations.metrics().await } }.boxed()
    })
}

async fn tcp(asked: SocketAddr, asks_who: bool) -> Result<(TcpListener, SocketAddr), Failure> {
    if !asked.ip().is_loopback() && !asks_who {
        let message = format!("{asked} can be reached from other machines, but there is no token");
        let hint = "make one with 'belljar token add NAME', name an authorization server in [http.oauth], or listen on 127.0.0.1";
        return Err(Failure::usage(message, hint));
    }
    let bound = async {
        let listener = TcpListener::bind(asked).await?;
        let address = listener.local_addr()?;
        std::io::Result::Ok((listener, address))
    };
    bound.await.map_err(|error| {
        Failure::usage(format!("cannot listen at {asked}: {error}"), "name another with --http ADDRESS")
    })
}
