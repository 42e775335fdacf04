//! The tools of some servers as one TypeScript module, for editors and programs outside of any
//! script.
//!
//! Each server is a namespace with its tools' declarations as scripts see them. All of these are
//! within the one namespace `servers`, so that no name of a server can shadow one of the module's
//! own. The interface `Servers` describes what a client has: each server and each tool under its
//! alias, and under its exact name if that is different.

use std::sync::Arc;

use crate::{observed::Observed, server::ServerCatalog, text::quoted, tool::Tool};

/// The declarations of these servers' tools for which `is_chosen` holds. If a server declares no
/// result, the one that `observed` returns is used. Servers without such a tool are left out.
pub fn declarations<'a>(
    servers: impl IntoIterator<Item = &'a ServerCatalog>,
    is_chosen: &dyn Fn(&Tool) -> bool,
    observed: &dyn Fn(&Tool) -> Option<Arc<Observed>>,
) -> String {
    let (mut namespaces, mut members) = (String::new(), String::new());
    for server in servers {
        let chosen: Vec<&Tool> = server.tools().iter().filter(|tool| is_chosen(tool)).collect();
        if chosen.is_empty() {
            continue;
        }
        for tool in &chosen {
            let declaration = tool.declaration_with(observed(tool).as_deref());
            // Everything inside a declared namespace is declared too.
            let declaration = declaration.strip_prefix("declare ").unwrap_or(&declaration);
            declaration.lines().for_each(|line| namespaces.push_str(&indented(line)));
        }
        let alias = server.names().alias();
        let mut kind = format!("typeof servers.{alias}");
        let by_exact_name: String = chosen
            .iter()
            .filter(|tool| tool.names().binds_exact() && tool.names().exact() != tool.names().alias())
            .map(|tool| format!(" {}: typeof servers.{alias}.{};", quoted(tool.names().exact()), tool.names().alias()))
            .collect();
        if !by_exact_name.is_empty() {
            kind.push_str(&format!(" & {{{by_exact_name} }}"));
        }
        for name in server.names().bound() {
            members.push_str(&format!("  {}: {kind};\n", quoted(name)));
        }
    }
    format!(
        "/** The tools as scripts see them, with the types that they need by name. */\n\
         declare namespace servers {{\n{namespaces}}}\n\
         export type {{ servers }};\n\n\
         /** Each server under its names, with each tool under its names. */\n\
         export interface Servers {{\n{members}}}\n"
    )
}

fn indented(line: &str) -> String {
    if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }
}
