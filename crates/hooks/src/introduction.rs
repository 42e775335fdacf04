//! What an agent is told when its session begins.

/// How many bytes the names of servers may take, including the separators. Each byte is at most one
/// token, and the words around the names are 20 tokens, so the whole stays below 60 whatever the
/// names contain.
const NAME_BYTES: usize = 34;
/// A comma and a space.
const BETWEEN: usize = 2;

/// One sentence that lists the servers, or `None` if there are none.
pub fn introduction<'name>(servers: impl IntoIterator<Item = &'name str>) -> Option<String> {
    let (mut named, mut bytes, mut others) = (Vec::new(), 0, 0_usize);
    for name in servers {
        // In other scripts, one character can take several tokens.
        let fits = name.bytes().all(|byte| byte.is_ascii_graphic()) && bytes + name.len() + BETWEEN <= NAME_BYTES;
        if fits {
            bytes += name.len() + BETWEEN;
            named.push(name);
        } else {
            others += 1;
        }
    }
    let servers = match (named.is_empty(), others) {
        (true, 0) => return None,
        (true, 1) => "one MCP server".to_owned(),
        (true, others) => format!("{others} MCP servers"),
        (false, 0) => named.join(", "),
        (false, others) => format!("{} and {others} more", named.join(", ")),
    };
    Some(format!("belljar: execute_code runs JavaScript over {servers}; search_docs finds their tools."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_short_whatever_the_servers_are_called() {
        let names: Vec<String> = (0..256).map(|number| format!("~{number}%^&{number}")).collect();
        let long = introduction(names.iter().map(String::as_str)).expect("a sentence");
        assert!(long.len() <= 150 && long.contains("more"), "{long}");
        assert_eq!(
            introduction(["serena", "fs"]).as_deref(),
            Some("belljar: execute_code runs JavaScript over serena, fs; search_docs finds their tools.")
        );
        assert_eq!(
            introduction(["\u{202e}"]).as_deref(),
            Some("belljar: execute_code runs JavaScript over one MCP server; search_docs finds their tools.")
        );
        assert_eq!(introduction([]), None);
    }
}
