//! What tool definitions take of a model's context: all of them, or belljar's two.

use belljar_catalog::{Query, Tool, estimate_tokens};
use serde_json::{Value, json};

use super::{
    Listed,
    search::{catalog, in_words},
};
use crate::report::{ServerTokens, Tokens, rounded};

const ESTIMATE: &str = "bytes of the JSON by 3.6, rounded up";
/// The most tools that are looked up. More of them would not change the median.
const LOOKED_UP: usize = 50;

/// The tokens of all definitions of `servers`, held against those of belljar's own tools. Servers
/// without a list are named, with the command that lists them.
pub fn tokens(servers: &[Listed], own_tools: &[Value], list_with: &str) -> Tokens {
    let of = |server: &Listed| {
        let tools = server.tools.as_ref()?;
        let definitions = tools.iter().map(
            |tool| json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema }),
        );
        let tokens = definitions.map(|definition| estimate_tokens(&definition.to_string())).sum();
        Some(ServerTokens { server: server.name.clone(), is_built_in: server.is_built_in, tools: tools.len(), tokens })
    };
    let listed: Vec<ServerTokens> = servers.iter().filter_map(of).collect();
    let unlisted = servers.iter().filter(|server| server.tools.is_none()).map(|server| server.name.clone()).collect();
    let direct_tokens: usize = listed.iter().map(|server| server.tokens).sum();
    let belljar_tokens: usize = own_tools.iter().map(|tool| estimate_tokens(&tool.to_string())).sum();
    let saved_tokens = signed(direct_tokens) - signed(belljar_tokens);
    #[expect(clippy::cast_precision_loss, reason = "tokens of a context are below 2^53")]
    let saved_percent = (direct_tokens > 0).then(|| rounded(100.0 * saved_tokens as f64 / direct_tokens as f64));
    Tokens {
        estimate: ESTIMATE,
        servers: listed,
        unlisted,
        list_with: list_with.to_owned(),
        direct_tokens,
        belljar_tokens,
        look_up_tokens: look_up(servers),
        saved_tokens,
        saved_percent,
    }
}

/// The median of what a model writes and reads to find a tool.
fn look_up(servers: &[Listed]) -> Option<usize> {
    let listed: Vec<Listed> = servers.iter().filter(|server| server.tools.is_some()).cloned().collect();
    let catalog = catalog(&listed);
    let tools: Vec<&Tool> = catalog.tools().collect();
    let every = tools.len().div_ceil(LOOKED_UP).max(1);
    let mut exchanges: Vec<usize> = tools
        .iter()
        .step_by(every)
        .map(|tool| {
            let query = in_words(tool);
            let asked = json!({ "name": "search_docs", "arguments": { "query": query } });
            estimate_tokens(&format!("{asked}{}", catalog.search(&Query::new(query)).to_text()))
        })
        .collect();
    exchanges.sort_unstable();
    exchanges.get(exchanges.len() / 2).copied()
}

fn signed(tokens: usize) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use belljar_model::ToolDefinition;

    use super::*;

    fn listed(name: &str, tools: Option<usize>) -> Listed {
        let tool = |number| {
            let definition = json!({ "name": format!("tool{number}"), "description": "does ".repeat(100) });
            ToolDefinition::from_json(definition).expect("a tool")
        };
        Listed {
            name: name.to_owned(),
            tools: tools.map(|count| Arc::new((0..count).map(tool).collect())),
            is_built_in: false,
        }
    }

    #[test]
    fn servers_without_a_list_are_named_and_count_for_nothing() {
        let own = [json!({ "name": "search_docs" })];
        let tokens = tokens(&[listed("many", Some(20)), listed("cold", None)], &own, "belljar servers");
        assert_eq!(tokens.unlisted, ["cold"]);
        assert_eq!(tokens.servers.iter().map(|server| server.tools).collect::<Vec<_>>(), [20]);
        assert_eq!(tokens.direct_tokens, tokens.servers.iter().map(|server| server.tokens).sum::<usize>());
        assert_eq!(tokens.saved_tokens, signed(tokens.direct_tokens) - signed(tokens.belljar_tokens));
        assert!(tokens.saved_percent.is_some_and(|percent| percent > 90.0), "{tokens:?}");
        assert!(tokens.look_up_tokens.is_some_and(|tokens| tokens > 0));
    }

    #[test]
    fn without_any_list_nothing_is_saved_and_no_percentage_made_up() {
        let own = [json!({ "name": "search_docs" })];
        let tokens = tokens(&[listed("cold", None)], &own, "belljar servers");
        assert_eq!((tokens.direct_tokens, tokens.saved_percent, tokens.look_up_tokens), (0, None, None));
        assert!(tokens.saved_tokens < 0);
    }
}
