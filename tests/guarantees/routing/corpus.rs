//! Sixty requests, as people and models write them, and the project that each of them is about.

use belljar_catalog::routing::Router;
use belljar_model::{Project, Projects};

/// A project: its name, languages, concerns and hints.
type Row = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const PROJECTS: [Row; 16] = [
    (
        "storefront",
        &["TypeScript", "CSS"],
        &["checkout", "cart", "product page", "search page", "accessibility", "layout"],
        &["web shop", "landing page", "React component"],
    ),
    (
        "backend",
        &["Go", "SQL"],
        &["handler", "endpoint", "session", "migration", "orders", "inventory"],
        &["asset handler", "REST API", "request middleware"],
    ),
    (
        "billing",
        &["Go", "SQL"],
        &["invoice", "tax", "refund", "currency", "rounding", "payment"],
        &["VAT", "credit note", "payment provider"],
    ),
    (
        "ledger",
        &["Java"],
        &["account", "journal", "balance", "settlement", "audit", "posting"],
        &["double entry", "general ledger", "trial balance"],
    ),
    (
        "pricing-models",
        &["Python", "C++"],
        &["option", "volatility", "yield curve", "portfolio", "hedge", "calibration"],
        &["Monte Carlo", "Black Scholes", "value at risk"],
    ),
    (
        "renderer",
        &["C++", "GLSL"],
        &["shader", "texture", "mesh", "lighting", "frame time", "camera"],
        &["shadow map", "render graph", "draw call"],
    ),
    (
        "gameplay",
        &["C#", "Lua"],
        &["player", "enemy", "quest", "inventory", "level", "dialogue", "save game"],
        &["boss fight", "skill tree", "spawn point"],
    ),
    (
        "netcode",
        &["C++"],
        &["lag", "snapshot", "prediction", "matchmaking", "lobby", "packet"],
        &["rollback", "tick rate", "dedicated server"],
    ),
    (
        "frontend",
        &["Rust"],
        &["lexer", "parser", "syntax", "token", "diagnostics", "macro"],
        &["syntax tree", "type checker", "borrow checker"],
    ),
    (
        "codegen",
        &["C++", "Assembly"],
        &["register", "instruction", "optimisation", "inlining", "vectorisation", "linker"],
        &["LLVM", "register allocator", "peephole"],
    ),
    (
        "motion",
        &["C++", "Python"],
        &["arm", "joint", "trajectory", "gripper", "torque", "collision"],
        &["inverse kinematics", "path planner", "joint limits"],
    ),
    (
        "perception",
        &["Python", "CUDA"],
        &["lidar", "camera", "calibration", "detection", "segmentation", "depth"],
        &["point cloud", "object detector", "sensor fusion"],
    ),
    (
        "genomics",
        &["Python", "R"],
        &["sequence", "alignment", "variant", "read", "genome", "sample"],
        &["FASTQ", "variant caller", "reference genome"],
    ),
    (
        "clinic",
        &["Kotlin", "SQL"],
        &["patient", "appointment", "prescription", "consent", "ward", "referral"],
        &["HL7", "medical record", "FHIR"],
    ),
    (
        "platform",
        &["Terraform", "YAML"],
        &["deployment", "cluster", "secret", "certificate", "alert", "rollout"],
        &["Kubernetes", "Helm chart", "CI pipeline"],
    ),
    (
        "courses",
        &["Ruby", "HTML"],
        &["lesson", "quiz", "grade", "student", "teacher", "homework"],
        &["course catalogue", "grade book", "SCORM"],
    ),
];

/// The words, and where they lead; nowhere if they say too little, or nothing about any project.
const ROUTINGS: [(&str, Option<&str>); 60] = [
    ("Asset handler in the Go backend", Some("backend")),
    ("the storefront's cart does not update", Some("storefront")),
    ("Make the landing page load faster on phones", Some("storefront")),
    ("fix the checkout layout at 320 pixels", Some("storefront")),
    ("which React component draws the price?", Some("storefront")),
    ("accessibility of the search page and the product page", Some("storefront")),
    ("add a REST API for wish lists", Some("backend")),
    ("a migration that adds an index on orders", Some("backend")),
    ("request middleware drops the session cookie", Some("backend")),
    ("the endpoint for inventory returns 500", Some("backend")),
    ("VAT is rounded the wrong way", Some("billing")),
    ("where is the tax of an invoice computed?", Some("billing")),
    ("a refund in another currency", Some("billing")),
    ("write the credit note as a PDF", Some("billing")),
    ("retry when the payment provider is down", Some("billing")),
    ("double entry for fees", Some("ledger")),
    ("the trial balance is off by one cent", Some("ledger")),
    ("audit of each journal posting", Some("ledger")),
    ("settlement of an account that was closed", Some("ledger")),
    ("Monte Carlo with antithetic paths", Some("pricing-models")),
    ("speed up the calibration of the volatility surface in Python", Some("pricing-models")),
    ("value at risk of the portfolio", Some("pricing-models")),
    ("pricing models: a new yield curve", Some("pricing-models")),
    ("the shadow map flickers", Some("renderer")),
    ("a shader for wet texture and lighting", Some("renderer")),
    ("too many draw calls: one draw call per mesh", Some("renderer")),
    ("frame time rises with each camera in the renderer", Some("renderer")),
    ("the boss fight never ends", Some("gameplay")),
    ("enemy dialogue in the second level", Some("gameplay")),
    ("a quest gives the player the wrong save game, in Lua", Some("gameplay")),
    ("balance the skill tree", Some("gameplay")),
    ("rollback feels jittery at 200 ms", Some("netcode")),
    ("lag and prediction when the lobby is full", Some("netcode")),
    ("raise the tick rate to 128", Some("netcode")),
    ("the borrow checker's message is misleading", Some("frontend")),
    ("the parser loses a token after a macro", Some("frontend")),
    ("print the syntax tree as JSON", Some("frontend")),
    ("spill less in the register allocator", Some("codegen")),
    ("inlining before vectorisation", Some("codegen")),
    ("move to the next LLVM", Some("codegen")),
    ("inverse kinematics of a six axis arm", Some("motion")),
    ("the gripper closes with too much torque", Some("motion")),
    ("the path planner ignores the table", Some("motion")),
    ("joint limits from the data sheet, in C++", Some("motion")),
    ("filter the point cloud before segmentation", Some("perception")),
    ("lidar and depth disagree near glass", Some("perception")),
    ("sensor fusion drifts after an hour", Some("perception")),
    ("the variant caller misses long deletions", Some("genomics")),
    ("alignment of each sequence to the genome", Some("genomics")),
    ("FASTQ files with Windows line ends", Some("genomics")),
    ("a patient books an appointment twice", Some("clinic")),
    ("export the medical record as HL7", Some("clinic")),
    ("renew the certificate of the cluster", Some("platform")),
    ("a Helm chart for the queue", Some("platform")),
    ("the CI pipeline is slow", Some("platform")),
    ("each student sees the quiz of another teacher", Some("courses")),
    ("the grade book shows no average", Some("courses")),
    // A language, or one concern, is not enough.
    ("rewrite it in Go", None),
    ("the camera is broken", None),
    ("what is the weather like today?", None),
];

fn projects() -> Projects {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let project = |(name, languages, concerns, hints): Row| Project {
        name: name.to_owned(),
        languages: owned(languages),
        concerns: owned(concerns),
        hints: owned(hints),
        ..Project::default()
    };
    Projects { argument: "project".to_owned(), all: PROJECTS.map(project).into(), default: None }
}

#[test]
fn sixty_requests_go_to_the_projects_that_people_mean() {
    let router = Router::new(&projects());
    let mut wrong = Vec::new();
    for (words, expected) in ROUTINGS {
        let route = router.route(words).expect("it is short");
        if route.project.as_deref() != expected {
            wrong.push(format!("{words}: expected {expected:?}, found {route:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), ROUTINGS.len(), wrong.join("\n"));
}
