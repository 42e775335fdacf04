//! A browser whose user agrees: it opens a page, and the page that it leads to.

use std::io;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Opens a page over http, and then the page to which it leads.
pub(crate) async fn visit(url: &str) -> io::Result<()> {
    let head = get(url).await?;
    let location = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
    });
    get(&location.ok_or_else(|| io::Error::other(format!("the page leads nowhere: {head}")))?).await?;
    Ok(())
}

/// The answer to a GET, as text.
async fn get(url: &str) -> io::Result<String> {
    let parts = url.strip_prefix("http://").and_then(|rest| rest.split_at_checked(rest.find('/')?));
    let (address, target) = parts.ok_or_else(|| io::Error::other(format!("no page over http: {url}")))?;
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
