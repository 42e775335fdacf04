//! Images, sounds and embedded files that a script returns reach the client as blocks, not as text.

use belljar_gateway::{Gateway, report};
use belljar_model::{ByteSize, ErrorKind, LimitsPatch, Media, Outcome};
use serde_json::{Value, json};

use crate::{
    context_cost::Client,
    real_servers::everything,
    stub_server::{Stub, gateway, run},
    support::Terminal,
};

/// A camera whose pictures have this many bytes of base64, with a text.
fn camera(bytes: usize) -> (Value, Gateway) {
    let block = json!({ "type": "image", "data": "iVBO".repeat(bytes / 4), "mimeType": "image/png" });
    let tools = json!([{ "name": "shoot", "inputSchema": { "type": "object" } }]);
    let content = json!([{ "type": "text", "text": "a shot" }, block]);
    let stub = Stub::new(tools, move |_, _| json!({ "content": content }));
    (block, gateway(&[("camera", stub)], Vec::new()))
}

fn blocks(outcome: &Outcome) -> Vec<Value> {
    outcome.media.iter().cloned().map(Media::into_block).collect()
}

#[tokio::test]
async fn an_image_in_a_value_is_handed_on_beside_it_and_its_place_says_so() {
    let (block, gateway) = camera(40_000);
    let size = "29.3 KiB";
    for (source, value) in [
        (
            "return await camera.shoot()",
            json!([{ "type": "text", "text": "a shot" }, format!("[image 1: image/png, {size}]")]),
        ),
        ("return (await camera.shoot())[1]", json!(format!("[image 1: image/png, {size}]"))),
        (
            "return { page: 3, image: (await camera.shoot())[1] }",
            json!({ "page": 3, "image": format!("[image 1: image/png, {size}]") }),
        ),
    ] {
        let outcome = run(&gateway, source).await;
        assert_eq!(outcome.result.as_ref().unwrap().to_value().unwrap(), value, "{source}");
        assert_eq!(blocks(&outcome).as_slice(), std::slice::from_ref(&block), "{source}");
        for text in [report(&outcome), serde_json::to_string(&outcome).unwrap()] {
            assert!(!text.contains("iVBO"), "{source}\n{text}");
        }
        assert_eq!(outcome.usage.output_bytes, value.to_string().len() as u64, "{source}");
    }
}

#[tokio::test]
async fn an_image_does_not_count_as_text_and_all_else_does() {
    // More than `max_output`, which is 256 KiB.
    let (block, gateway) = camera(600_000);
    let outcome = run(&gateway, "return (await camera.shoot())[1]").await;
    assert_eq!(blocks(&outcome), [block], "{:#?}", outcome.result);
    for source in [
        "return { image: (await camera.shoot())[1], more: 'x y '.repeat(70_000) }",
        // The same bytes, and no image.
        "return (await camera.shoot())[1].data",
        // More than a tool may return.
        "const [, image] = await camera.shoot(); return Array(9).fill(image)",
    ] {
        let outcome = run(&gateway, source).await;
        assert!(outcome.media.is_empty(), "{source}");
        let error = outcome.result.unwrap_err();
        let limit = error.limit.expect("a limit");
        assert_eq!(
            (error.kind, limit.name.as_str(), limit.max),
            (ErrorKind::Output, "max_output", 256 * 1024),
            "{source}"
        );
        assert!(limit.used > limit.max, "{source}: {limit:?}");
    }
    // A lowered limit applies to text.
    let few = LimitsPatch { max_output: Some(ByteSize::b(100)), ..LimitsPatch::default() };
    let outcome = gateway.execute("return (await camera.shoot())[1]".to_owned()).limits(&few).await;
    assert_eq!(outcome.media.len(), 1, "{:#?}", outcome.result);
}

#[tokio::test]
async fn a_log_says_how_large_an_image_is_and_not_what_its_bytes_are() {
    let (_, gateway) = camera(40_000);
    let outcome =
        run(&gateway, "const [, image] = await camera.shoot(); console.log(image); console.log('got', [image])").await;
    let texts: Vec<&str> = outcome.logs.iter().map(|entry| entry.text.as_str()).collect();
    assert!(texts[0].contains("data: <30000 bytes as base64>") && texts[0].contains("'image/png'"), "{texts:#?}");
    assert!(!texts[0].contains("iVBO"), "{texts:#?}");
    assert!(texts[1].contains("<30000 bytes as base64>") && !texts[1].contains("iVBO"), "{texts:#?}");
}

#[test]
fn a_client_gets_an_image_as_a_block_of_its_own_also_from_the_daemon() {
    let terminal = Terminal::new();
    let config = terminal.file("mcp.json", json!({ "mcpServers": { "everything": everything() } }).to_string());
    let code = "return { taken: true, parts: await everything.get_tiny_image({}) }";
    for more in [&[][..], &["--daemon"]] {
        let arguments = [&["--config", config.to_str().unwrap()], more].concat();
        let answer = Client::connect(&terminal, &arguments).call("execute_code", json!({ "code": code }));
        let [text, image] = answer["content"].as_array().unwrap().as_slice() else { panic!("{answer:#}") };
        assert!(text["text"].as_str().unwrap().contains("[image 1: image/png, "), "{answer:#}");
        assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")), "{answer:#}");
        let data = image["data"].as_str().unwrap();
        assert!(data.len() > 1_000, "{answer:#}");
        assert!(!answer["structuredContent"].to_string().contains(&data[..100]), "{answer:#}");
        assert!(!text.to_string().contains(&data[..100]), "{answer:#}");
    }
    // On a terminal, its size is shown.
    for command in [&["run", "--code", code][..], &["call", "everything.get-tiny-image"]] {
        let shown = terminal.belljar(&[command, &["--config", config.to_str().unwrap()]].concat());
        assert!(shown.stdout.contains("[image 1: image/png, ") && shown.stdout.len() < 1_000, "{shown:#?}");
    }
}
