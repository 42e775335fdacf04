//! Only its holder finds what is stored, and all of it is bounded.

use std::{fs, path::Path, sync::Arc, time::Duration};

use belljar_model::{ArtifactName, ByteSize, JsonBounds, JsonText, LedgerKeep, RunId};
use rusqlite::Connection;

use super::*;
use crate::ledger::Ledger as _;
use crate::{
    artifacts::{Content, MAX_READ},
    query::Purge,
    sqlite::{Options, SqliteLedger, file, points},
};

fn ledger(folder: &Path) -> SqliteLedger {
    SqliteLedger::new(Some(folder), Options { fsync: false, keep: LedgerKeep::default() })
}

fn artifacts(folder: &Path) -> SqliteArtifacts {
    ledger(folder).artifacts(ArtifactSettings::default())
}

fn holder(principal: Option<&str>, workspace: &str) -> Holder {
    Holder { principal: principal.map(Into::into), workspace: workspace.into() }
}

fn here() -> Holder {
    holder(None, "/work")
}

fn new(content: Content) -> NewArtifact {
    NewArtifact { content, name: None, mime: None, run: None, labels: Vec::new() }
}

fn text(text: &str) -> NewArtifact {
    new(Content::Text(text.into()))
}

fn value(json: &str) -> NewArtifact {
    new(Content::Value(JsonText::parse(json.to_owned(), &JsonBounds::with_bytes(usize::MAX)).expect("JSON")))
}

fn named(name: &str, artifact: NewArtifact) -> NewArtifact {
    NewArtifact { name: Some(name.parse().expect("a name")), ..artifact }
}

fn words(words: &str) -> Search {
    Search { words: words.to_owned(), within: Vec::new(), limit: 10 }
}

async fn found(artifacts: &SqliteArtifacts, whose: &Holder, what: &str) -> Vec<(String, String)> {
    let found = artifacts.search(whose.clone(), words(what)).await.expect("a search");
    assert_eq!(found.pending, 0);
    found.hits.into_iter().map(|hit| (hit.pointer, hit.text)).collect()
}

/// Waits until only this many artifacts have any part in the file.
async fn swept(folder: &Path, left: i64) {
    let connection = Connection::open(folder.join(file::NAME)).expect("the file");
    connection.busy_timeout(Duration::from_secs(5)).expect("a timeout");
    let count = || connection.query_row("SELECT count(*) FROM artifacts", [], |row| row.get::<_, i64>(0));
    let swept = async {
        while count().expect("a count") != left {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), swept).await.expect("what is gone is removed");
}

#[tokio::test]
async fn what_is_stored_is_read_listed_and_found_in_another_process_of_the_same_holder() {
    let folder = tempfile::tempdir().expect("a folder");
    let here_first = artifacts(folder.path());
    assert!(here_first.list(here(), None, 10).await.expect("that there is nothing is not a fault").is_empty());
    assert!(!folder.path().join(file::NAME).exists(), "reading makes no file");
    let run = RunId::from_bits(7);
    let labelled = NewArtifact {
        run: Some(run),
        labels: vec!["secret".to_owned()],
        ..named("pages", value(r#"{"pages":[{"title":"Timeouts","body":"connection timed out \n again"}]}"#))
    };
    let first = here_first.store(here(), labelled).await.expect("stored");
    let blob = NewArtifact { mime: Some("image/png".to_owned()), ..new(Content::Blob(Arc::new([0, 255, 7]))) };
    let second = here_first.store(here(), blob).await.expect("stored");
    let there = artifacts(folder.path());
    let listed = there.list(here(), None, 10).await.expect("a list");
    assert_eq!(listed.iter().map(|entry| entry.id).collect::<Vec<_>>(), [second.id, first.id]);
    assert_eq!(there.list(here(), Some(second.id), 10).await.expect("a list"), listed[1..]);
    let entry = there.entry(here(), "pages".parse().expect("a name")).await.expect("read").expect("there");
    assert_eq!((entry.id, entry.run, entry.labels.as_slice()), (first.id, Some(run), ["secret".to_owned()].as_slice()));
    assert_eq!(there.whole(here(), second.id).await.expect("read"), Some(vec![0, 255, 7]));
    assert_eq!(there.read(here(), second.id, 1..2).await.expect("read"), Some(vec![255]));
    assert_eq!(there.read(here(), second.id, 3..u64::MAX).await.expect("read"), Some(vec![]));
    #[expect(clippy::reversed_empty_ranges, reason = "a script may ask for it")]
    let reversed = 2..1;
    assert_eq!(there.read(here(), second.id, reversed).await.expect("read"), Some(vec![]));
    for what in ["timeout", "CONNECTION again", "nnecti", "timed"] {
        let found = there.search(here(), words(what)).await.expect("a search");
        assert_eq!(found.hits.len(), 1, "{what}");
        assert_eq!((found.hits[0].artifact, found.hits[0].pointer.as_str()), (first.id, ""), "{what}");
    }
    assert!(found(&there, &here(), "absent").await.is_empty());
}

#[tokio::test]
async fn nothing_of_one_principal_or_workspace_is_there_for_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let artifacts = artifacts(folder.path());
    let all = [
        here(),
        holder(Some("ada"), "/work"),
        holder(Some(""), "/work"),
        holder(Some("bob"), "/work"),
        holder(None, "/other"),
    ];
    let mut ids = Vec::new();
    for (place, holder) in all.iter().enumerate() {
        let artifact = named("same", text(&format!("common words of number{place}")));
        ids.push(artifacts.store(holder.clone(), artifact).await.expect("stored").id);
    }
    for (place, holder) in all.iter().enumerate() {
        assert_eq!(
            found(&artifacts, holder, "common").await,
            [(String::new(), format!("common words of number{place}"))]
        );
        for (other, id) in ids.iter().enumerate() {
            let is_own = other == place;
            let which = ArtifactRef::Id(*id);
            assert_eq!(artifacts.entry(holder.clone(), which.clone()).await.expect("read").is_some(), is_own);
            assert_eq!(artifacts.read(holder.clone(), *id, 0..9).await.expect("read").is_some(), is_own);
            assert_eq!(artifacts.whole(holder.clone(), *id).await.expect("read").is_some(), is_own);
            let search = Search { within: vec![which.clone()], ..words("common") };
            let searched = artifacts.search(holder.clone(), search).await;
            let unknown = Search { within: vec![ArtifactRef::Id(ArtifactId::from_bits(5))], ..words("common") };
            let never_was = artifacts.search(holder.clone(), unknown).await.expect_err("not there");
            match searched {
                Ok(found) => assert!(is_own && found.hits.len() == 1),
                Err(error) => {
                    assert!(!is_own);
                    let same = |error: &ArtifactError| error.to_string().replace(&which.to_string(), "a_0000000000005");
                    assert_eq!(same(&error), same(&never_was));
                }
            }
            if !is_own {
                assert_eq!(artifacts.remove(holder.clone(), vec![which]).await.expect("removed"), 0);
            }
        }
    }
    assert_eq!(artifacts.totals().await.expect("totals").len(), 5);
    assert_eq!(artifacts.remove_all(here()).await.expect("removed"), 1);
    assert!(found(&artifacts, &here(), "common").await.is_empty());
    assert_eq!(found(&artifacts, &all[1], "common").await.len(), 1);
}

#[tokio::test]
async fn a_saved_name_is_replaced_and_the_old_is_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let artifacts = artifacts(folder.path());
    let old = artifacts.store(here(), named("notes", text("old words"))).await.expect("stored");
    assert!(!old.replaced);
    let new = artifacts.store(here(), named("notes", text("new words"))).await.expect("stored");
    assert!(new.replaced);
    assert_eq!(found(&artifacts, &here(), "words").await, [(String::new(), "new words".to_owned())]);
    assert_eq!(artifacts.whole(here(), old.id).await.expect("read"), None);
    let name: ArtifactName = "notes".parse().expect("a name");
    let entry = artifacts.entry(here(), ArtifactRef::Name(name)).await.expect("read").expect("there");
    assert_eq!(entry.id, new.id);
    swept(folder.path(), 1).await;
    let connection = Connection::open(folder.path().join(file::NAME)).expect("the file");
    let pieces: i64 =
        connection.query_row("SELECT count(*) FROM artifact_pieces", [], |row| row.get(0)).expect("a count");
    assert_eq!(pieces, 1);
}

#[tokio::test]
async fn a_large_content_is_read_in_bounded_pieces_and_its_passages_have_their_places() {
    let folder = tempfile::tempdir().expect("a folder");
    let artifacts = artifacts(folder.path());
    let record = |n: usize| format!(r#"{{"id":{n},"text":"record{n}x {}"}}"#, "filler words ".repeat(20));
    let json = format!("[{}]", (0..9000).map(record).collect::<Vec<_>>().join(","));
    let id = artifacts.store(here(), value(&json)).await.expect("stored").id;
    assert_eq!(
        artifacts.read(here(), id, 5..u64::MAX).await.expect("read").map(|piece| piece.len() as u64),
        Some(MAX_READ)
    );
    assert_eq!(artifacts.whole(here(), id).await.expect("read").as_deref(), Some(json.as_bytes()));
    assert_eq!(found(&artifacts, &here(), "record4711x").await, [("/4711".to_owned(), record(4711))]);
    assert_eq!(found(&artifacts, &here(), "cord4711").await, [("/4711".to_owned(), record(4711))]);
    assert_eq!(found(&artifacts, &here(), "words").await.len(), 10);
    let twice = (found(&artifacts, &here(), "filler").await, found(&artifacts, &here(), "filler").await);
    assert_eq!(twice.0, twice.1);
}

#[tokio::test]
async fn no_character_of_a_search_is_an_operator() {
    let folder = tempfile::tempdir().expect("a folder");
    let artifacts = artifacts(folder.path());
    artifacts.store(here(), text("alpha beta gamma a*b \"quoted\" {x} text : NEAR OR col")).await.expect("stored");
    artifacts.store(holder(Some("ada"), "/work"), text("hidden")).await.expect("stored");
    for mark in (0_u8..128).map(char::from).filter(|mark| !mark.is_ascii_alphanumeric()) {
        for search in [
            format!("{mark}"),
            format!("{mark}{mark}{mark}"),
            format!("alpha{mark}"),
            format!("{mark}alpha"),
            format!("alpha {mark} beta"),
            format!("alpha{mark}beta"),
            format!("text{mark}alpha"),
        ] {
            match artifacts.search(here(), words(&search)).await {
                Ok(found) => assert!(found.hits.iter().all(|hit| hit.text.contains("alpha")), "{search:?}"),
                Err(ArtifactError::NoWords) => {}
                Err(error) => panic!("{search:?}: {error}"),
            }
        }
    }
    for search in [
        "alpha NEAR beta",
        "NEAR(alpha beta, 2)",
        "alpha AND",
        "NOT alpha",
        "text : hidden",
        "{text} : alpha",
        "alpha*",
        "^alpha",
        "\"alpha",
        "\"\"",
        "\"\"\"\"",
        "alpha\" OR \"hidden",
        "- text",
        "(alpha",
        "alpha)",
        "alpha + beta",
        "rank",
        "\u{0}alpha\u{0}",
        "\u{301}",
        "\u{301}\u{302} alpha",
        "\u{6771}\u{4eac}",
        "\u{1f600}\u{1f600}\u{1f600}",
        "'; DROP TABLE artifacts; --",
    ] {
        match artifacts.search(here(), words(search)).await {
            Ok(found) => assert!(found.hits.iter().all(|hit| hit.text.contains("alpha")), "{search:?}"),
            Err(ArtifactError::NoWords) => {}
            Err(error) => panic!("{search:?}: {error}"),
        }
    }
    assert_eq!(found(&artifacts, &here(), "a*b").await.len(), 1);
    assert_eq!(found(&artifacts, &here(), "NEAR alpha").await.len(), 1);
    assert_eq!(
        found(&artifacts, &here(), "alpha hidden").await.len(),
        1,
        "if none has all words, those with some are found"
    );
    assert!(found(&artifacts, &here(), "hidden").await.is_empty());
}

#[tokio::test]
async fn what_is_asked_is_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings =
        ArtifactSettings { max_artifact: ByteSize::kib(10), max_bytes: ByteSize::kib(20), ..Default::default() };
    let artifacts = ledger(folder.path()).artifacts(settings);
    let large = artifacts.store(here(), text(&"x".repeat(10_241))).await.expect_err("too large");
    assert!(matches!(large, ArtifactError::TooLarge { used: 10_241, limit: 10_240 }));
    let long =
        artifacts.store(here(), NewArtifact { labels: vec!["x".repeat(257)], ..text("x") }).await.expect_err("long");
    assert!(matches!(long, ArtifactError::Described { what: "label", .. }));
    let many =
        artifacts.store(here(), NewArtifact { labels: vec![String::new(); 65], ..text("x") }).await.expect_err("many");
    assert!(matches!(many, ArtifactError::Described { what: "list of labels", .. }));
    for (search, fails) in [("x".repeat(1025), true), ("x ".repeat(17), true), ("x ".repeat(16), false)] {
        assert_eq!(artifacts.search(here(), words(&search)).await.is_err(), fails, "{search}");
    }
    let within = vec![ArtifactRef::Id(ArtifactId::from_bits(1)); 101];
    let many = artifacts.search(here(), Search { within, ..words("x") }).await.expect_err("too many");
    assert!(!artifacts.store(here(), text("x")).await.expect("stored").replaced);
    assert!(matches!(many, ArtifactError::TooManyWithin { used: 101, limit: 100 }));
    let nowhere = SqliteLedger::new(None, Options { fsync: false, keep: LedgerKeep::default() });
    let error = nowhere.artifacts(settings).store(here(), text("x")).await.expect_err("no folder");
    assert!(matches!(error, ArtifactError::Ledger(LedgerError::NoFolder)));
}

#[tokio::test]
async fn what_was_not_used_for_the_longest_time_goes_first_and_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = ArtifactSettings { max_bytes: ByteSize::kib(40), ..Default::default() };
    let artifacts = ledger(folder.path()).artifacts(settings);
    let ada = holder(Some("ada"), "/work");
    let hers = artifacts.store(ada.clone(), text(&"y".repeat(9000))).await.expect("stored").id;
    let mut ids = Vec::new();
    for (place, workspace) in ["/a", "/b", "/c"].into_iter().enumerate() {
        let stored = artifacts.store(holder(None, workspace), text(&"x".repeat(9000))).await.expect("stored");
        assert_eq!(stored.evicted, 0);
        ids.push(stored.id);
        age(folder.path(), stored.id, 100 - i64::try_from(place).expect("small"));
    }
    // The oldest is used again.
    age(folder.path(), ids[0], 2 * 3_600_000);
    artifacts.read(holder(None, "/a"), ids[0], 0..1).await.expect("read").expect("there");
    let stored = artifacts.store(here(), text(&"x".repeat(15_000))).await.expect("stored");
    assert_eq!((stored.evicted, stored.evicted_bytes), (1, 9000));
    let there = async |workspace: &str, id| {
        artifacts.entry(holder(None, workspace), ArtifactRef::Id(id)).await.expect("read").is_some()
    };
    assert!(there("/a", ids[0]).await && !there("/b", ids[1]).await && there("/c", ids[2]).await);
    assert!(artifacts.entry(ada, ArtifactRef::Id(hers)).await.expect("read").is_some(), "another's stays");
    let alone = artifacts.store(here(), text(&"x".repeat(41_000))).await.expect_err("no room at all");
    assert!(matches!(alone, ArtifactError::NoRoom { .. }));
}

#[tokio::test]
async fn a_principal_has_a_bounded_number_of_workspaces_and_of_artifacts() {
    let folder = tempfile::tempdir().expect("a folder");
    let artifacts = artifacts(folder.path());
    for workspace in 0..6 {
        let stored = artifacts.store(holder(None, &workspace.to_string()), text("words")).await.expect("stored");
        age(folder.path(), stored.id, 10 - workspace);
    }
    let totals = artifacts.totals().await.expect("totals");
    assert_eq!(totals.iter().map(|totals| &*totals.holder.workspace).collect::<Vec<_>>(), ["2", "3", "4", "5"]);
    for _ in 0..70 {
        artifacts.store(holder(Some("ada"), ""), text("words")).await.expect("stored");
    }
    assert_eq!(artifacts.list(holder(Some("ada"), ""), None, 1000).await.expect("a list").len(), 60);
}

fn age(folder: &Path, id: ArtifactId, by_ms: i64) {
    let connection = Connection::open(folder.join(file::NAME)).expect("the file");
    connection.busy_timeout(Duration::from_secs(5)).expect("a timeout");
    let aged = connection
        .execute(
            "UPDATE artifacts SET used_ms = used_ms - ?2 WHERE id = ?1",
            rusqlite::params![id.bits().cast_signed(), by_ms],
        )
        .expect("changed");
    assert_eq!(aged, 1);
}

#[tokio::test]
async fn what_is_not_used_for_a_week_is_removed_with_all_its_parts() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = artifacts(folder.path());
    let old = first.store(here(), text("old words")).await.expect("stored").id;
    assert_eq!(found(&first, &here(), "words").await.len(), 1);
    age(folder.path(), old, 7 * 24 * 3_600_000 + 1);
    // The first write of another process tidies up.
    let second = artifacts(folder.path());
    second.store(holder(Some("ada"), ""), text("others")).await.expect("stored");
    swept(folder.path(), 1).await;
    assert_eq!(second.entry(here(), ArtifactRef::Id(old)).await.expect("read"), None);
    let connection = Connection::open(folder.path().join(file::NAME)).expect("the file");
    let names: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'artifact_words_%' AND sql LIKE 'CREATE VIRTUAL%'")
        .and_then(|mut names| names.query_map([], |row| row.get(0))?.collect())
        .expect("names");
    assert!(!names.contains(&"artifact_words_1".to_owned()), "{names:?}");
}

/// One number that the file has.
fn number(folder: &Path, sql: &str) -> i64 {
    let connection = Connection::open(folder.join(file::NAME)).expect("the file");
    connection.busy_timeout(Duration::from_secs(5)).expect("a timeout");
    connection.query_row(sql, [], |row| row.get(0)).expect("a number")
}

const PAGES: &str = "SELECT pages FROM artifact_pages";

#[tokio::test]
async fn what_is_replaced_again_and_again_does_not_fill_the_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let artifacts = artifacts(folder.path());
    let content = "x".repeat(256 * 1024);
    for _ in 0..40 {
        artifacts.store(here(), named("x", text(&content))).await.expect("stored");
        let bytes = number(folder.path(), "SELECT sum(bytes) FROM artifacts");
        assert!(bytes <= (1024 + 3 * 256) * 1024, "{bytes}");
    }
}

#[tokio::test]
async fn all_principals_together_are_bounded_and_the_fullest_gives_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = ArtifactSettings { max_bytes: ByteSize::kib(128), ..Default::default() };
    let artifacts = ledger(folder.path()).artifacts(settings);
    let small = artifacts.store(here(), text("a few words")).await.expect("stored").id;
    for number_of in 0..50 {
        let whose = holder(Some(&format!("p{number_of}")), "");
        let content = new(Content::Blob(vec![7; 100 * 1024].into()));
        let id = artifacts.store(whose.clone(), content).await.expect("stored").id;
        assert!(artifacts.entry(whose, ArtifactRef::Id(id)).await.expect("read").is_some());
        // Eight times 128 KiB, the further bytes that are allowed, and those of a few artifacts
        // that were just stored or removed.
        let bytes = number(folder.path(), PAGES) * 4096;
        assert!(bytes <= (1024 + 1024 + 512) * 1024, "{bytes}");
    }
    assert!(artifacts.entry(here(), ArtifactRef::Id(small)).await.expect("read").is_some());
    for number_of in 0..70 {
        artifacts.store(holder(Some(&format!("q{number_of}")), ""), text("words")).await.expect("stored");
        assert!(number(folder.path(), "SELECT count(*) FROM artifact_holders") <= 62);
    }
}

#[tokio::test]
async fn a_large_index_is_removed_in_several_transactions_and_then_made_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger_first = ledger(folder.path());
    let first = ledger_first.artifacts(ArtifactSettings::default());
    let content: String = (0..200_000).map(|n: u64| format!("{:x} ", n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    first.store(here(), text(&content)).await.expect("stored");
    let mut search = first.search(here(), words("absent")).await.expect("a search");
    while search.pending > 0 {
        search = first.search(here(), words("absent")).await.expect("a search");
    }
    ledger_first.close().await;
    let used =
        number(folder.path(), "SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count");
    let counted = number(folder.path(), PAGES);
    assert!((used - 100..used).contains(&counted), "{counted} of {used} pages");
    let mut connection = file::open(folder.path()).expect("the file");
    for _ in 0..2 {
        assert!(!tables::step(&mut connection, |transaction| index::unmake(transaction, 1)).expect("some is removed"));
    }
    assert!(connection.execute("DELETE FROM artifact_words_1_data", []).is_err(), "nothing else writes there");
    drop(connection);
    // Another process that stores for the same holder continues with it.
    let second = artifacts(folder.path());
    second.remove_all(here()).await.expect("removed");
    second.store(here(), text("other words")).await.expect("stored");
    assert_eq!(found(&second, &here(), "words").await, [(String::new(), "other words".to_owned())]);
    swept(folder.path(), 1).await;
    assert_eq!(found(&second, &here(), "other").await.len(), 1);
}

#[tokio::test]
async fn each_artifact_is_kept_for_as_long_as_the_configuration_has_it_that_stored_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let patient = ledger(folder.path()).artifacts(ArtifactSettings { days: 30, ..Default::default() });
    let kept = patient.store(here(), text("kept")).await.expect("stored").id;
    let ada = holder(Some("ada"), "");
    let hers = artifacts(folder.path()).store(ada.clone(), text("hers")).await.expect("stored").id;
    for id in [kept, hers] {
        age(folder.path(), id, 8 * 24 * 3_600_000);
    }
    let hasty = ledger(folder.path()).artifacts(ArtifactSettings { days: 1, ..Default::default() });
    hasty.store(holder(Some("bob"), ""), text("others")).await.expect("stored");
    swept(folder.path(), 2).await;
    assert!(hasty.entry(here(), ArtifactRef::Id(kept)).await.expect("read").is_some());
    assert!(hasty.entry(ada, ArtifactRef::Id(hers)).await.expect("read").is_none());
}

#[tokio::test]
async fn a_purge_leaves_nothing_of_artifacts_in_the_file() {
    const SECRET: &str = "verysecretword";
    for what in [
        Purge::All,
        Purge::Runs(vec![RunId::from_bits(9)]),
        Purge::Before(std::time::SystemTime::now() + Duration::from_secs(60)),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = ledger(folder.path());
        let artifacts = ledger.artifacts(ArtifactSettings::default());
        let artifact = NewArtifact {
            run: Some(RunId::from_bits(9)),
            ..named("x", text(&format!("{SECRET} and more ").repeat(5000)))
        };
        artifacts.store(here(), artifact).await.expect("stored");
        artifacts.store(here(), text(&format!("{SECRET} of no run"))).await.expect("stored");
        assert_eq!(artifacts.search(here(), words(SECRET)).await.expect("a search").hits.len(), 10);
        let is_all = !matches!(what, Purge::Runs(_));
        ledger.purge(what.clone()).await.expect("purged");
        assert_eq!(artifacts.list(here(), None, 10).await.expect("a list").len(), usize::from(!is_all), "{what:?}");
        ledger.close().await;
        if is_all {
            assert_eq!(number(folder.path(), PAGES), 12, "the pages are counted anew");
            for entry in fs::read_dir(folder.path()).expect("the folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    continue;
                }
                let bytes = fs::read(&path).expect("a file");
                for piece in [SECRET, "verys", "secretword"] {
                    let is_there = bytes.windows(piece.len()).any(|window| window == piece.as_bytes());
                    assert!(!is_there, "{} has {piece} after {what:?}", path.display());
                }
            }
        }
    }
}

#[tokio::test]
async fn entries_of_runs_are_kept_while_artifacts_are_stored_and_indexed() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = ledger(folder.path());
    let artifacts = ledger.artifacts(ArtifactSettings::default());
    let large = "some words that are many, and others\n".repeat(150_000);
    let (stored, kept) = tokio::join!(artifacts.store(here(), text(&large)), async {
        for _ in 0..50 {
            assert!(ledger.runs(crate::query::Filter::default()).await.is_ok());
        }
    });
    let () = kept;
    assert_eq!(stored.expect("stored").bytes, large.len() as u64);
    assert_eq!(artifacts.search(here(), words("many others")).await.expect("a search").hits.len(), 10);
}

#[tokio::test]
async fn a_full_disk_keeps_nothing_of_an_artifact_and_what_is_there_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let artifacts = artifacts(folder.path());
    let kept = artifacts.store(here(), text("kept words")).await.expect("stored").id;
    assert_eq!(found(&artifacts, &here(), "words").await.len(), 1);
    points::bound_pages(&folder.path().join(file::NAME));
    let full = artifacts.store(here(), text(&"x".repeat(2_000_000))).await.expect_err("no room");
    assert!(matches!(full, ArtifactError::Ledger(LedgerError::Full { .. })), "{full}");
    assert!(full.hint().contains("make room"));
    assert_eq!(artifacts.list(here(), None, 10).await.expect("a list").len(), 1);
    assert_eq!(artifacts.whole(here(), kept).await.expect("read").as_deref(), Some(b"kept words".as_slice()));
}

#[tokio::test]
async fn a_damaged_or_hostile_file_is_an_error_and_nothing_worse() {
    let damages = [
        "UPDATE artifact_pieces SET data = x'00'",
        "DELETE FROM artifact_pieces",
        "UPDATE artifacts SET bytes = 9223372036854775807",
        "UPDATE artifacts SET bytes = -1",
        "UPDATE artifacts SET kind = 77",
        "UPDATE artifacts SET labels = 'no list'",
        "UPDATE artifacts SET name = char(10)",
        "UPDATE artifacts SET used_ms = 9223372036854775807",
        "UPDATE artifacts SET at_ms = -5",
        "UPDATE artifact_passages SET start = 9223372036854775807",
        "UPDATE artifact_passages SET length = -3",
        "UPDATE artifact_passages SET form = 9",
        "UPDATE artifact_passages SET part = 0",
        "DELETE FROM artifact_passages",
        "UPDATE artifact_words_1_data SET block = x'ffffffffffffffff'",
        "UPDATE artifact_parts_1_data SET block = x'0000000000'",
        "DELETE FROM artifact_words_1_config",
        "DROP TABLE artifact_words_1",
        "DROP TABLE artifact_words_1; CREATE TABLE artifact_words_1(text, rank)",
        "DROP TABLE artifacts",
        "UPDATE artifact_holders SET is_indexed = 7",
        "UPDATE artifacts SET state = 1, passages = 9223372036854775807",
        "UPDATE artifacts SET state = 1, passages = -9",
    ];
    for damage in damages {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = ledger(folder.path());
        let first = ledger.artifacts(ArtifactSettings::default());
        let id = first.store(here(), named("n", text(&"some words here ".repeat(10_000)))).await.expect("stored").id;
        assert_eq!(found(&first, &here(), "words").await.len(), 10);
        ledger.close().await;
        let connection = Connection::open(folder.path().join(file::NAME)).expect("the file");
        if let Err(error) = connection.execute_batch(damage) {
            panic!("{damage}: {error}");
        }
        drop(connection);
        let second = artifacts(folder.path());
        let _ = second.list(here(), None, 10).await;
        let _ = second.entry(here(), ArtifactRef::Id(id)).await;
        let _ = second.whole(here(), id).await;
        for what in ["words", "ords", "some here", "zzz zzz"] {
            let _ = second.search(here(), words(what)).await;
        }
        let _ = second.totals().await;
        let _ = second.store(here(), named("n", text("more words"))).await;
        let _ = second.search(here(), words("more")).await;
        let _ = second.remove_all(here()).await;
    }
}

#[tokio::test]
async fn a_thousand_writers_at_once_are_all_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let all: Vec<_> = (0..3).map(|_| artifacts(folder.path())).collect();
    let writers = (0..1000).map(|n| {
        let artifacts = all[n % all.len()].clone();
        tokio::spawn(async move {
            let whose = holder(Some(&format!("p{}", n % 50)), "");
            artifacts.store(whose, text(&format!("writer{n} words"))).await
        })
    });
    let mut ids = std::collections::BTreeSet::new();
    for writer in writers.collect::<Vec<_>>() {
        ids.insert(writer.await.expect("no panic").expect("stored").id);
    }
    assert_eq!(ids.len(), 1000);
    assert_eq!(all[0].totals().await.expect("totals").iter().map(|totals| totals.artifacts).sum::<u64>(), 1000);
    assert_eq!(found(&all[0], &holder(Some("p7"), ""), "writer507").await.len(), 1);
}

/// The number of a process of the tests below, and the size of what it stores.
const CHILD: &str = "ARTIFACTS_CHILD";

#[tokio::test]
#[ignore = "it is the other process of the tests below"]
async fn child() {
    let variable = |name: &str| std::env::var(format!("{CHILD}{name}")).ok();
    let Some(folder) = variable("") else { return };
    let number = |name: &str| variable(name).and_then(|text| text.parse::<usize>().ok()).expect("a number");
    let (times, bytes, own) = (number("_TIMES"), number("_BYTES"), number("_NUMBER"));
    let artifacts = artifacts(Path::new(&folder));
    for time in 0..times {
        let content = format!("process{own}x time{time}x {}", "filler ".repeat(bytes / 7));
        let stored = artifacts.store(holder(None, "/all"), text(&content)).await.expect("stored");
        println!("\nkept {} {}", stored.id, content.len());
    }
}

fn spawn(folder: &Path, number: usize, times: usize, bytes: usize) -> std::process::Child {
    let mut command = std::process::Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "sqlite::artifacts::tests::child", "--ignored", "--nocapture", "--test-threads=1"]);
    let variables = [("_NUMBER", number), ("_TIMES", times), ("_BYTES", bytes)];
    command.env(CHILD, folder).envs(variables.map(|(name, value)| (format!("{CHILD}{name}"), value.to_string())));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().expect("started")
}

/// What a process reported that it kept: ids and lengths.
fn told(line: &str) -> Option<(ArtifactId, usize)> {
    let (id, length) = line.strip_prefix("kept ")?.split_once(' ')?;
    Some((id.parse().ok()?, length.parse().ok()?))
}

#[tokio::test]
async fn several_processes_store_at_once_and_each_artifact_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let children: Vec<_> = (0..3).map(|number| spawn(folder.path(), number, 15, 20_000)).collect();
    let mut kept = Vec::new();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success());
        kept.extend(String::from_utf8_lossy(&output.stdout).lines().filter_map(told));
    }
    assert_eq!(kept.len(), 45);
    let artifacts = artifacts(folder.path());
    let whose = holder(None, "/all");
    for (id, length) in kept {
        assert_eq!(artifacts.whole(whose.clone(), id).await.expect("read").map(|whole| whole.len()), Some(length));
    }
    for (process, time) in [(0, 0), (1, 14), (2, 7)] {
        let search = format!("process{process}x time{time}x");
        assert_eq!(found(&artifacts, &whose, &search).await.len(), 1, "{search}");
    }
}

#[tokio::test]
async fn a_process_that_is_killed_while_it_stores_leaves_no_half_of_an_artifact() {
    use std::io::{BufRead as _, BufReader};

    let folder = tempfile::tempdir().expect("a folder");
    for number in 0..3 {
        let mut child = spawn(folder.path(), number, 1000, 3_000_000);
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let kept: Vec<_> = stdout.lines().map_while(Result::ok).filter_map(|line| told(&line)).take(2).collect();
        child.kill().expect("killed");
        child.wait().expect("gone");
        let artifacts = artifacts(folder.path());
        let listed = artifacts.list(holder(None, "/all"), None, 1000).await.expect("a list");
        assert!(kept.iter().all(|(id, _)| listed.iter().any(|entry| entry.id == *id)));
        for entry in listed {
            let whole = artifacts.whole(holder(None, "/all"), entry.id).await.expect("read").expect("there");
            assert_eq!(whole.len() as u64, entry.bytes);
            assert!(whole.starts_with(b"process") && whole.ends_with(b"filler "));
        }
    }
    // A half-written artifact is removed when its time is over.
    let connection = Connection::open(folder.path().join(file::NAME)).expect("the file");
    connection.busy_timeout(Duration::from_secs(5)).expect("a timeout");
    connection.execute("UPDATE artifacts SET at_ms = at_ms - 3600001 WHERE state = 0", []).expect("changed");
    let artifacts = artifacts(folder.path());
    artifacts.remove_all(holder(None, "/all")).await.expect("removed");
    swept(folder.path(), 0).await;
    let pieces: i64 =
        connection.query_row("SELECT count(*) FROM artifact_pieces", [], |row| row.get(0)).expect("a count");
    assert_eq!(pieces, 0);
}
