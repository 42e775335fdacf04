//! A process that keeps a child like belljar does, so that it can be killed.

use std::{io, thread, time::Duration};

use belljar_testkit::child_server;
use belljar_upstream::{BuiltIns, Options, Supervisor, Upstream};

use crate::protocol::Output;

/// Starts a child that resists ending, reports that on stdout, and stays.
pub(crate) fn host(file: &str) -> io::Result<()> {
    let program = std::env::current_exe()?;
    let child = child_server("child", &program, &["runaway", file]);
    let mut options = Options::new("belljar-testkit", "0");
    options.supervisor = Some(Supervisor { program, arguments: vec!["supervise".to_owned()] });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let upstream = Upstream::new(vec![child], BuiltIns::new(), options);
    let started = runtime.block_on(upstream.start("child"));
    started.map_err(|fault| io::Error::other(fault.to_string()))?;
    Output::default().line("ready")?;
    loop {
        thread::sleep(Duration::from_secs(1000));
    }
}
