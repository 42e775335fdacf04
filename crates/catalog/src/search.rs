//! Answers a question: what is found, as far as there is room for it.
//!
//! A budget is kept by leaving out whole entries, never by cutting one. The best entries stay; a
//! catalogue leaves out tools fairly, so that a server with a thousand tools does not hide the
//! others. The omitted tools are counted, and the answer says how to get them.

use std::sync::Arc;

use belljar_model::{Effect, ToolPath};

use crate::{
    answer::{Answer, Found, Head, Unavailable, bytes_for, detail_line, estimate_tokens},
    bounds::{
        DEFAULT_BUDGET, DEFAULT_RESULTS, DETAILED, LARGEST_BUDGET, MOST_RESULTS, QUERY_CHARS, SERVERS_SHOWN,
        SHOWN_NAME_CHARS,
    },
    catalog::Catalog,
    details::details,
    helpers,
    observed::Observed,
    query::{Detail, Query},
    rank::{Ranking, has_words, rank},
    server::{ServerCatalog, ServerState},
    text::{one_line, quoted},
    tool::Tool,
    words::{split, stem},
};

/// Bytes reserved for the line about omitted tools.
const OMITTED_LINE_BYTES: usize = 180;
/// Bytes reserved in each line of a catalogue for the count of unnamed tools.
const MORE_BYTES: usize = 16;

/// Servers for which an answer says where their paths may lead.
const FOLDER_NOTES: usize = 3;
/// Bytes reserved for these notes, at most a quarter of the rest.
const FOLDER_BYTES: usize = 500;
/// Bytes of an answer that details of tools may take, beside their signatures.
const DETAILS_BYTES: usize = 1_600;
/// The surroundings of a note.
const NOTE_BYTES: usize = "Note: \n".len();
/// Words of the question that a note repeats.
const MISSING_SHOWN: usize = 3;

/// The observed results of a tool.
pub type Observations<'a> = dyn Fn(&ToolPath) -> Option<Arc<Observed>> + Sync + 'a;

impl Catalog {
    /// Answers a question. It never fails: if nothing is found, the answer says so.
    pub fn search(&self, query: &Query) -> Answer {
        self.search_with(query, &|_| None)
    }

    /// The same, with the observed results of tools that declare none.
    pub fn search_with(&self, query: &Query, observed: &Observations<'_>) -> Answer {
        let text: String = query.text.trim().chars().take(QUERY_CHARS).collect();
        let budget = query.budget.unwrap_or(DEFAULT_BUDGET).min(LARGEST_BUDGET);
        let limit = query.limit.unwrap_or(usize::MAX).min(MOST_RESULTS);
        let mut answer = Answer::default();
        let wanted = match &query.server {
            None => None,
            Some(name) => match self.server(name).or_else(|| self.namespace(name)) {
                Some(server) => Some(server.name()),
                None => {
                    answer.notes.push(self.no_such_server(name));
                    return answer;
                }
            },
        };
        let is_wanted = |server: &ServerCatalog| wanted.is_none_or(|name| name == server.name());
        answer.unavailable =
            self.servers().iter().filter(|server| is_wanted(server)).filter_map(|server| unavailable(server)).collect();
        let is_search = has_words(&text) || self.tools().any(|tool| tool.names().exact() == text);
        if !is_search && !text.is_empty() {
            answer.notes.push("the query has no words to look for, so this is the catalogue".to_owned());
        }
        let mut room = Room { bytes: bytes_for(budget), budget };
        room.keep_for(&answer);
        if is_search {
            let is_server = self.server("tools").or_else(|| self.namespace("tools")).is_some();
            if let Some(call) = helpers::by_path(&text).filter(|_| !is_server) {
                answer.notes.push(call);
                return answer;
            }
            // Only if it leaves most of the room for tools.
            let helper = helpers::for_wish(&text).filter(|note| note.len() + NOTE_BYTES <= room.bytes / 4);
            room.bytes -= helper.as_ref().map_or(0, |note| note.len() + NOTE_BYTES);
            answer.notes.extend(helper);
            let limit = if query.limit.is_some() { limit } else { DEFAULT_RESULTS };
            if let Some(server) = self.named_server(&text).filter(|server| *server.state() != ServerState::Ready) {
                answer.unavailable.retain(|unavailable| unavailable.server == server.name());
                answer.notes.push(format!("the tools of {} are not known", quoted(server.name())));
                return answer;
            }
            let Ranking { tools, found, weak, missing, fits_the_rest } =
                rank(&text, self.vocabulary(), self.servers(), is_wanted, query.effect, limit);
            let detail = query.detail.unwrap_or(Detail::Brief);
            let for_folders = room.set_aside(if detail == Detail::Names { 0 } else { FOLDER_BYTES });
            room.fill(&mut answer, &tools, found, detail, observed);
            answer.weak = weak;
            let shown = answer.results.len();
            answer.more = match shown + weak >= found && shown < limit {
                true => more(budget, Some(limit.max(DEFAULT_RESULTS)), query, true),
                false => more(budget, Some(limit), query, found > limit && shown == limit),
            };
            answer.notes.extend(of_shared_state(&answer));
            let of_folders = self.of_folders(&answer, detail, room.bytes + for_folders);
            room.bytes += for_folders;
            room.bytes = room.bytes.saturating_sub(of_folders.iter().map(|note| note.len() + NOTE_BYTES).sum());
            answer.notes.extend(of_folders);
            if detail == Detail::Brief {
                room.detail(&mut answer, &tools);
            }
            if found == 0 {
                answer.notes.push(self.nothing_found(&text, query));
            } else if !missing.is_empty() {
                answer.notes.push(fits_in_part(&text, &missing, fits_the_rest));
            }
            answer.is_brief_on_unavailable = wanted.is_none() && !answer.results.is_empty();
            return answer;
        }
        let groups: Vec<(&ServerCatalog, Vec<&Tool>)> = (self.servers().iter())
            .filter(|server| is_wanted(server) && *server.state() == ServerState::Ready)
            .map(|server| (&**server, server.tools().iter().filter(|tool| has_effect(tool, query.effect)).collect()))
            .collect();
        match query.detail.unwrap_or(if wanted.is_some() { Detail::Brief } else { Detail::Names }) {
            Detail::Names => room.fill_catalogue(&mut answer, &groups, limit),
            detail => {
                let found = groups.iter().map(|(_, tools)| tools.len()).sum();
                room.fill(&mut answer, &in_turns(&groups, limit), found, detail, observed);
                in_order_of_servers(&mut answer, &groups);
            }
        }
        answer.more = more(budget, query.limit, query, query.limit == Some(answer.results.len()));
        answer
    }

    /// The server of the tool whose path is the text.
    fn named_server(&self, text: &str) -> Option<&Arc<ServerCatalog>> {
        let (name, tool) = text.split_once('.')?;
        let is_path = !tool.is_empty() && !text.contains(char::is_whitespace);
        (self.server(name).or_else(|| self.namespace(name))).filter(|_| is_path)
    }

    fn no_such_server(&self, name: &str) -> String {
        let shown = quoted(&one_line(name, SHOWN_NAME_CHARS));
        if let Some(near) = self.nearest_server(name) {
            return format!("there is no server {shown}; did you mean {}?", quoted(near.name()));
        }
        let mut names: Vec<String> =
            self.servers().iter().take(SERVERS_SHOWN).map(|server| quoted(server.name())).collect();
        match self.servers().len().saturating_sub(SERVERS_SHOWN) {
            0 => {}
            more => names.push(format!("{more} more")),
        }
        if names.is_empty() {
            format!("there is no server {shown}; none is configured")
        } else {
            format!("there is no server {shown}; there are {}", names.join(", "))
        }
    }

    /// Where the paths of the results may lead, or which tool returns that. A full declaration
    /// already contains it.
    fn of_folders(&self, answer: &Answer, detail: Detail, mut room: usize) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for found in &answer.results {
            let namespace = found.expression.split('.').next().unwrap_or_default();
            let lister = || {
                let lister = self.server(&found.server)?.lister_of_folders()?;
                let is_found = answer.results.iter().any(|other| other.path == *lister.path());
                (!is_found)
                    .then(|| format!("{namespace} works in certain folders: {}({{}}) names them", lister.expression()))
            };
            let note = match (&found.folders, &found.started_with) {
                (Some(_), _) | (_, Some(_)) if detail == Detail::Full => None,
                (Some(folders), _) => Some(format!("paths of {namespace} are {folders}")),
                (None, Some(arguments)) => Some(format!("{namespace} is started with {arguments}")),
                (None, None) => lister(),
            };
            let fits =
                |note: &String| notes.len() < FOLDER_NOTES && !notes.contains(note) && note.len() + NOTE_BYTES <= room;
            if let Some(note) = note.filter(fits) {
                room -= note.len() + NOTE_BYTES;
                notes.push(note);
            }
        }
        notes
    }

    fn nothing_found(&self, text: &str, query: &Query) -> String {
        let mut note = format!("no tool matches {}", quoted(&one_line(text, SHOWN_NAME_CHARS)));
        // Several words are not a name, and comparing them with every name is costly.
        let is_name = query.server.is_none() && !text.contains(char::is_whitespace);
        let near = if is_name { self.nearest_tool(text) } else { None };
        if let Some(near) = near.filter(|tool| has_effect(tool, query.effect)) {
            note.push_str(&format!("; did you mean {}?", near.expression()));
        } else if query.server.is_some() || query.effect.is_some() {
            note.push_str("; try without the server or effect");
        } else {
            note.push_str("; try other words, or search for nothing to see every server");
        }
        note
    }
}

/// How to call tools that share their server's state.
fn of_shared_state(answer: &Answer) -> Option<String> {
    let mut namespaces: Vec<&str> = Vec::new();
    for found in answer.results.iter().filter(|found| found.stateful) {
        let namespace = found.expression.split('.').next().unwrap_or_default();
        if !namespaces.contains(&namespace) {
            namespaces.push(namespace);
        }
    }
    let first = *namespaces.first()?;
    Some(format!(
        "all calls of {} share one state (a page, a session): await them one after the other, or put what belongs together into \
         {first}.$exclusive(async () => {{ … }})",
        namespaces.join(" and ")
    ))
}

/// Says that the results have little to do with the question, or with parts of it.
fn fits_in_part(text: &str, missing: &[String], fits_the_rest: bool) -> String {
    let is_missing = |word: &&str| split(word).iter().any(|word| missing.iter().any(|known| *known == stem(word)));
    let words: Vec<String> = text
        .split_whitespace()
        .filter(is_missing)
        .take(MISSING_SHOWN)
        .map(|word| quoted(&one_line(word, SHOWN_NAME_CHARS)))
        .collect();
    let nothing = if fits_the_rest { "" } else { "nothing fits well: " };
    format!("{nothing}no tool mentions {}; these match the rest", words.join(" or "))
}

fn has_effect(tool: &Tool, wanted: Option<Effect>) -> bool {
    wanted.is_none_or(|wanted| wanted == tool.effect())
}

fn unavailable(server: &ServerCatalog) -> Option<Unavailable> {
    let (reason, hint) = match server.state() {
        ServerState::Ready => return None,
        ServerState::NotStarted => {
            ("not started yet".to_owned(), "it starts when one of its tools is called".to_owned())
        }
        ServerState::Unavailable { reason, hint } => (reason.clone(), hint.clone()),
    };
    Some(Unavailable { server: server.name().to_owned(), reason, hint })
}

/// How to get what was left out, depending on the limit that left it out.
fn more(budget: usize, limit: Option<usize>, query: &Query, by_limit: bool) -> String {
    let raise = match limit {
        Some(limit) if by_limit => format!("raise limit ({limit})"),
        _ => format!("raise budget ({budget})"),
    };
    let server = if query.server.is_none() { ", name a server" } else { "" };
    let detail = if query.detail == Some(Detail::Full) { ", ask for less detail" } else { "" };
    format!("{raise}{server}{detail} or use other words")
}

/// The servers' tools in turns: the first of each, the second of each, and so on.
fn in_turns<'a>(groups: &[(&ServerCatalog, Vec<&'a Tool>)], limit: usize) -> Vec<&'a Tool> {
    let longest = groups.iter().map(|(_, tools)| tools.len()).max().unwrap_or(0);
    let turns = (0..longest).flat_map(|turn| groups.iter().filter_map(move |(_, tools)| tools.get(turn).copied()));
    turns.take(limit).collect()
}

fn in_order_of_servers(answer: &mut Answer, groups: &[(&ServerCatalog, Vec<&Tool>)]) {
    let place = |found: &Found| groups.iter().position(|(server, _)| server.name() == found.server);
    // A stable sort: within a server the order is that of its list already.
    answer.results.sort_by_cached_key(place);
}

/// What remains of a budget.
struct Room {
    bytes: usize,
    budget: usize,
}

impl Room {
    /// Reserves room for the remarks, up to half.
    fn keep_for(&mut self, answer: &Answer) {
        let kept = (answer.remarks().len() + OMITTED_LINE_BYTES).min(self.bytes / 2);
        self.bytes -= kept;
    }

    /// Reserves this much for a later part, at most a quarter, and returns how much.
    fn set_aside(&mut self, wanted: usize) -> usize {
        let kept = wanted.min(self.bytes / 4);
        self.bytes -= kept;
        kept
    }

    /// Adds details of the first tools, as long as there is room.
    fn detail(&mut self, answer: &mut Answer, tools: &[&Tool]) {
        let mut left = self.bytes.min(DETAILS_BYTES);
        for (found, tool) in answer.results.iter_mut().zip(tools).take(DETAILED) {
            for line in details(tool) {
                let bytes = detail_line(&line).len();
                if found.declaration.is_some() && found.path == *tool.path() && bytes <= left {
                    left -= bytes;
                    self.bytes -= bytes;
                    found.details.push(line);
                }
            }
        }
    }

    /// Adds tools in order as long as each fits as a whole. The first one is always there, at least
    /// by name.
    fn fill(
        &mut self,
        answer: &mut Answer,
        tools: &[&Tool],
        found: usize,
        detail: Detail,
        observed: &Observations<'_>,
    ) {
        if detail == Detail::Names {
            return self.fill_names(answer, tools, found);
        }
        for tool in tools {
            let observed = observed(tool.path());
            let entry = Found::with(tool, detail, observed.as_deref());
            let bytes = entry.to_text().len();
            if bytes <= self.bytes {
                self.bytes -= bytes;
                answer.results.push(entry);
                continue;
            }
            if answer.results.is_empty() {
                let needed = estimate_tokens(&entry.to_text());
                let note = format!("{} takes about {needed} tokens: raise budget ({})", tool.expression(), self.budget);
                let brief = Found::with(tool, Detail::Brief, observed.as_deref());
                let fits = detail == Detail::Full && brief.to_text().len() + note.len() <= self.bytes;
                answer.notes.push(note);
                answer.results.push(if fits { brief } else { Found::name_alone(tool) });
                self.bytes = 0;
            }
            break;
        }
        answer.omitted = found - answer.results.len();
    }

    /// Adds names in order, with those of one server on one line.
    fn fill_names(&mut self, answer: &mut Answer, tools: &[&Tool], found: usize) {
        let mut servers: Vec<&str> = Vec::new();
        for tool in tools {
            let is_new = !servers.contains(&tool.path().server());
            // A line begins with the namespace; the separators are two bytes each.
            let bytes = if is_new { tool.expression().len() + 2 } else { tool.names().alias().len() + 2 };
            if bytes > self.bytes && !answer.results.is_empty() {
                break;
            }
            self.bytes = self.bytes.saturating_sub(bytes);
            if is_new {
                servers.push(tool.path().server());
            }
            answer.results.push(Found::new(tool, Detail::Names));
        }
        let place = |found: &Found| servers.iter().position(|server| *server == found.server);
        answer.results.sort_by_cached_key(place);
        answer.omitted = found - answer.results.len();
    }

    /// Adds every server with its count as long as there is room, then names of tools in turns.
    fn fill_catalogue(&mut self, answer: &mut Answer, groups: &[(&ServerCatalog, Vec<&Tool>)], limit: usize) {
        let mut open: Vec<(Head, Vec<&Tool>)> = Vec::new();
        for (server, tools) in groups {
            let head = Head { namespace: server.names().alias().to_owned(), tools: tools.len(), shown: 0 };
            let bytes = head.to_text().len() + MORE_BYTES + 1;
            if bytes > self.bytes && !open.is_empty() {
                let rest = groups.len() - open.len();
                answer.notes.push(format!("{rest} more servers are not shown: raise budget ({})", self.budget));
                break;
            }
            self.bytes = self.bytes.saturating_sub(bytes);
            open.push((head, tools.clone()));
        }
        let mut left = limit;
        let mut full = vec![false; open.len()];
        while left > 0 && full.contains(&false) {
            for ((head, tools), full) in open.iter_mut().zip(&mut full).filter(|(_, full)| !**full) {
                let bytes = tools.get(head.shown).map(|tool| tool.names().alias().len() + 2);
                match bytes {
                    Some(bytes) if bytes <= self.bytes && left > 0 => {
                        self.bytes -= bytes;
                        left -= 1;
                        head.shown += 1;
                    }
                    _ => *full = true,
                }
            }
        }
        let found: usize = groups.iter().map(|(_, tools)| tools.len()).sum();
        for (head, tools) in open {
            answer.results.extend(tools.iter().take(head.shown).map(|tool| Found::new(tool, Detail::Names)));
            answer.heads.push(head);
        }
        answer.omitted = found - answer.results.len();
    }
}

#[cfg(test)]
mod tests;
