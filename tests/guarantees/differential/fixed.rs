//! The programs with recorded results (`tests/differential/generate.mjs`).

use std::{collections::BTreeMap, fs};

use futures::{StreamExt as _, stream};

use super::{AT_ONCE, Judged, difference, folder, here};

/// The name of a program, its result here, and why that differs.
type Known = (String, String, String);

/// One file per area, whose rows are a name, a program, and Node's result.
fn programs() -> Vec<Judged> {
    let files = fs::read_dir(folder().join("programs")).unwrap().map(|file| file.unwrap().path());
    let mut programs = Vec::new();
    for path in files {
        let area = path.file_stem().unwrap().to_str().unwrap();
        let rows: Vec<[String; 3]> = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert!(rows.len() >= 30, "{area} has {} programs", rows.len());
        programs.extend(rows.into_iter().map(|[name, source, node]| Judged {
            name: format!("{area} {name}"),
            source,
            node,
        }));
    }
    programs.sort_by(|one, other| one.name.cmp(&other.name));
    programs
}

/// Known differences.
fn known() -> Vec<Known> {
    serde_json::from_str(&fs::read_to_string(folder().join("known.json")).unwrap()).unwrap()
}

/// `BELLJAR_ACCEPT=1` removes entries that no longer differ, and updates the results of the others.
/// It adds none.
#[tokio::test(flavor = "multi_thread")]
async fn three_thousand_programs_give_what_node_gives() {
    let accept = std::env::var_os("BELLJAR_ACCEPT").is_some();
    let (programs, list) = (programs(), known());
    assert!(list.iter().all(|(_, _, why)| why.len() > 20), "a difference has a reason");
    let (count, listed) = (programs.len(), list.len());
    assert!(count - listed >= 3_000, "{count} programs, of which {listed} are known to differ");
    let mut known: BTreeMap<&str, &str> = list.iter().map(|(name, here, _)| (name.as_str(), here.as_str())).collect();

    let results = stream::iter(programs).map(async |program| {
        let found = here(&program.source).await;
        (program, found)
    });
    let results: Vec<_> = results.buffered(AT_ONCE).collect().await;
    let (mut differences, mut cured, mut left) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (Judged { name, source, node }, found) in &results {
        match known.remove(name.as_str()) {
            Some(_) if found == node => cured.push(name),
            Some(listed) if accept || found == listed => _ = left.insert(name, found),
            None if found == node => {}
            listed => differences.push(difference(name, source, listed.unwrap_or(node), found)),
        }
    }
    assert!(known.is_empty(), "no such program: {:?}", known.keys());
    assert!(differences.is_empty(), "{} of {count} programs differ\n{}", differences.len(), differences.join("\n"));
    if accept {
        let rows = list.iter().filter_map(|(name, _, why)| Some((name, left.get(name)?, why)));
        let rows: Vec<_> = rows.map(|row| serde_json::to_string(&row).unwrap()).collect();
        fs::write(folder().join("known.json"), format!("[\n{}\n]\n", rows.join(",\n"))).unwrap();
    }
    assert!(
        accept || cured.is_empty(),
        "these no longer differ (BELLJAR_ACCEPT=1 strikes them off known.json): {cured:#?}"
    );
}
