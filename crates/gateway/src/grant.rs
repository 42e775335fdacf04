//! What one run may call: the toolbox, as the sandbox asks for it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use belljar_catalog::{Tool, script_answers};
use belljar_ledger::Holder;
use belljar_model::{Effect, JsonText, RunStep, Sharing, ToolPath, Verdict};
use belljar_sandbox::{
    AnswerRoom, CallError, Directory, Finding, GrantedTool, MAX_QUESTIONS, Namespace, NotAnswered, Objection,
    PlannedCalls, Tools, Unavailable,
};
use belljar_upstream::{AnswerGate, CallLimit, Caller};
use futures::{FutureExt as _, future::BoxFuture};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{
    Toolbox,
    approvals::{Approvals, Asking, Checked, Held, NotSent, Teller},
    artifacts::{Answering, Apart, RunFiles},
    counts::Turn,
    idempotency,
    keeps::RunKeeps,
    labels::Carrier,
    locks::{ACQUIRE, LockError, RELEASE, RunLocks},
    measure::CountingCalls,
    plan::{self, CallPlan, Planning},
    remarks::Remarks,
    rules::AsRules,
    run_log::{Content, RunLog},
    skills::{RunSkills, SKILLS, may_run},
    unmarked,
};

/// The number of a call that is not numbered.
const UNNUMBERED: u64 = 0;

/// All tools of the toolbox.
pub(crate) struct Grant {
    toolbox: Arc<Toolbox>,
    /// How far progress can extend a call: to the end of its run.
    total: Duration,
    caller: Caller,
    remarks: Arc<Remarks>,
    locks: Arc<RunLocks>,
    log: Arc<RunLog>,
    /// The highest effect that a tool may have.
    ceiling: Effect,
    /// Who calls, for the owner's rules.
    who: AsRules,
    /// The owner of the things that live on between runs. Without one, the run has none.
    holder: Option<Holder>,
    /// Whether the run may ask for artifacts.
    has_artifacts: bool,
    /// The files of results that the run has kept.
    files: Arc<RunFiles>,
    keeps: Option<RunKeeps>,
    /// How often the run has asked about artifacts or kept values.
    questions: AtomicU64,
    /// Who can be asked about calls, if anybody.
    approvals: Option<Approvals>,
    /// Who is notified of questions.
    teller: Option<Teller>,
    announced: Arc<Announced>,
    /// The current servers of a run that was put aside.
    servers: Option<Vec<Option<usize>>>,
    /// The named scripts, as they were when the run began or was resumed.
    skills: RunSkills,
    /// The only tools that it may call, if not all.
    only: Option<Granted>,
    /// Collects what is known of the script's calls, for callers that want only that. No server is
    /// started for this.
    planned: Option<Planned>,
}

/// The tools that a component may call.
#[cfg_attr(not(unix), expect(dead_code, reason = "only components have them, which need unix"))]
enum Granted {
    /// What it imports.
    These(BTreeSet<ToolPath>),
    /// Any tool that a script may call, except named scripts, since the interpreter runs those.
    Any,
}

/// What is known of a script's calls, once its guest has asked.
pub(crate) type Planned = Arc<Mutex<Option<ScriptCalls>>>;

/// The calls of a script, as they stand in its source.
pub(crate) struct ScriptCalls {
    pub(crate) calls: Vec<CallPlan>,
    pub(crate) more: u64,
    pub(crate) others: bool,
}

/// A call, numbered in the order in which its script began it.
struct Begun {
    who: AsRules,
    turn: Option<Turn>,
}

/// Calls that were begun and whose arguments are being read.
#[derive(Default)]
struct Announced(Mutex<BTreeMap<u64, Begun>>);

impl Announced {
    fn put(&self, number: u64, begun: Begun) {
        self.0.lock().insert(number, begun);
    }

    fn take(&self, number: u64) -> Option<Begun> {
        self.0.lock().remove(&number)
    }
}

/// Releases the place of a call whose arguments were malformed.
struct Announcement {
    announced: Arc<Announced>,
    number: u64,
}

impl Drop for Announcement {
    fn drop(&mut self) {
        self.announced.take(self.number);
    }
}

impl Grant {
    /// All tools, for a run of this source with this time limit.
    pub(crate) fn new(toolbox: Arc<Toolbox>, source: &str, total: Duration, caller: Caller, log: Arc<RunLog>) -> Self {
        let locks = Arc::new(RunLocks::new(toolbox.clone(), source, caller.principal().cloned()));
        let caller = log.traced_caller(caller);
        let skills = RunSkills::of(&toolbox);
        Self {
            toolbox,
            total,
            caller,
            remarks: Arc::default(),
            locks,
            log,
            ceiling: Effect::External,
            who: AsRules::default(),
            holder: None,
            has_artifacts: false,
            files: Arc::default(),
            keeps: None,
            questions: AtomicU64::new(0),
            approvals: None,
            teller: None,
            announced: Arc::default(),
            servers: None,
            skills,
            only: None,
            planned: None,
        }
    }

    /// The same for a script that is not run.
    pub(crate) fn planning(self, planned: Planned) -> Self {
        Self { planned: Some(planned), ..self }
    }

    /// The same with only these tools: those that a component imports.
    #[cfg(unix)]
    pub(crate) fn granting(self, only: BTreeSet<ToolPath>) -> Self {
        Self { only: Some(Granted::These(only)), ..self }
    }

    /// The same with all tools of servers: those that a component that finds tools may call.
    #[cfg(unix)]
    pub(crate) fn granting_any(self) -> Self {
        Self { only: Some(Granted::Any), ..self }
    }

    /// The position of a namespace's server in the toolbox.
    fn position(&self, namespace: usize) -> Option<usize> {
        match &self.servers {
            Some(servers) => servers.get(namespace).copied().flatten(),
            None => Some(namespace),
        }
    }

    /// Whether it may call any tool of the server at a position of the toolbox.
    pub(crate) fn has_granted(&self, server: usize) -> bool {
        let is_there = |path: &ToolPath| self.toolbox.position_of(path.server()) == Some(server);
        match &self.only {
            None => true,
            Some(Granted::These(only)) => only.iter().any(is_there),
            Some(Granted::Any) => !self.toolbox.has_skills() || self.toolbox.name_of(server) != SKILLS,
        }
    }

    /// The same for a run that began with these servers.
    pub(crate) fn with_servers<'n>(self, names: impl Iterator<Item = &'n str>) -> Self {
        let servers = names.map(|name| self.toolbox.position_of(name)).collect();
        Self { servers: Some(servers), ..self }
    }

    /// The same for a resumed run. It has the named scripts of its recording, whatever became of
    /// their files.
    pub(crate) fn going_on(self) -> Self {
        Self { skills: self.skills.going_on(), ..self }
    }

    /// Adds what the interpreter runs to the description of a named script.
    pub(crate) fn with_script(&self, path: &ToolPath, described: Value) -> Value {
        self.skills.with_script(path, described)
    }

    /// The same, without tools of a higher effect.
    pub(crate) fn with_ceiling(self, ceiling: Effect) -> Self {
        Self { ceiling, ..self }
    }

    /// The same for this caller.
    pub(crate) fn with_caller(self, who: AsRules) -> Self {
        Self { who: who.of_run(self.log.run()), ..self }
    }

    /// The same for a run that has artifacts, or has none.
    pub(crate) fn with_artifacts(self, has_artifacts: bool) -> Self {
        Self { has_artifacts, ..self }
    }

    /// The same for this holder of the things that live on between runs.
    pub(crate) fn with_holder(self, holder: Option<Holder>) -> Self {
        let keeps = holder.as_ref().and_then(|holder| RunKeeps::of(&self.toolbox, &self.log, holder));
        Self { holder, keeps, ..self }
    }

    /// The holder of the things that live on between runs, if there is one.
    pub(crate) fn holder(&self) -> Option<&Holder> {
        self.holder.as_ref()
    }

    /// Whether scripts have kept values.
    pub(crate) fn has_keep(&self) -> bool {
        self.keeps.is_some()
    }

    /// Writes the values that the script has changed. The script must have ended by itself.
    pub(crate) async fn write_kept(&self) {
        if let Some(keeps) = &self.keeps {
            keeps.write(&self.who).await.into_iter().for_each(|text| self.remarks.add(text));
        }
    }

    /// The same, with somebody who can be asked about calls and somebody who is notified.
    pub(crate) fn with_approvals(self, approvals: Option<Approvals>, teller: Option<Teller>) -> Self {
        Self { approvals, teller, ..self }
    }

    /// Counts a question about artifacts or kept values. A sandbox counts by itself too, but its
    /// process could be controlled by a script.
    fn count_question(&self, what: &str) -> Result<(), NotAnswered> {
        let is_within = self.questions.fetch_add(1, Ordering::Relaxed) < MAX_QUESTIONS;
        if is_within { Ok(()) } else { Err(NotAnswered::too_often(what)) }
    }

    /// Who calls.
    pub(crate) fn who(&self) -> &AsRules {
        &self.who
    }

    /// The highest effect that a tool may have.
    pub(crate) fn ceiling(&self) -> Effect {
        self.ceiling
    }

    /// The servers that the run holds exclusively.
    pub(crate) fn locks(&self) -> Arc<RunLocks> {
        self.locks.clone()
    }

    /// The remarks on the calls.
    pub(crate) fn remarks(&self) -> &Remarks {
        &self.remarks
    }

    /// Gives a call that the script begins now its place, before anything else is done.
    fn begun(&self, path: &ToolPath) -> Begun {
        let who = self.who.begun();
        let judge = self.toolbox.judge_of(path).filter(|(judge, _)| judge.counts() && !path.is_lock());
        let turn = judge.map(|_| who.counts().turn());
        Begun { who, turn }
    }

    fn call_as(
        &self,
        (caller, room): (Caller, Option<AnswerRoom>),
        number: u64,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        let (approvals, teller) = (self.approvals, self.teller.clone());
        let (toolbox, upstream, path) = (self.toolbox.clone(), self.toolbox.upstream().clone(), tool.path.clone());
        let limit = CallLimit { quiet: limit, total: self.total.max(limit) };
        let (remarks, locks, total) = (self.remarks.clone(), self.locks.clone(), self.total);
        let (log, effect, ceiling) = (self.log.clone(), tool.effect, self.ceiling);
        let broken_skill = self.skills.broken(&path);
        let (holder, files) = (self.holder.clone().filter(|_| self.has_artifacts), self.files.clone());
        let Begun { who, turn } = self.announced.take(number).unwrap_or_else(|| self.begun(&path));
        async move {
            let mut turn = turn;
            if let Some(turn) = &mut turn {
                turn.come().await;
            }
            let server = toolbox.position_of(path.server()).unwrap_or(usize::MAX);
            let waits = |server: &str| remarks.tell(format!("waited for {server}, which another run had for itself"));
            let refused = |fault: LockError| {
                let answer = CallError::new(fault.to_string());
                match fault.hint() {
                    Some(hint) => answer.with_hint(hint),
                    None => answer,
                }
            };
            match path.tool() {
                ACQUIRE => return locks.acquire(server, total, &waits).await.map(|()| nothing()).map_err(refused),
                RELEASE => {
                    locks.release(server);
                    return Ok(nothing());
                }
                _ => {}
            }
            if let Some(why) = broken_skill {
                let hint = "its owner sees more with belljar skills check; call its tools yourself meanwhile";
                return Err(CallError::new(format!("{path} cannot be called: {why}")).with_hint(hint));
            }
            let trusted = toolbox.trusted_effect_of(&path);
            if let Some(Objection { message, hint, .. }) = plan::over(ceiling, trusted, &path) {
                let fault = CallError::refused(message);
                return Err(CallError { hint, ..fault });
            }
            let arguments = match toolbox.key_argument(&path) {
                Some(member) => idempotency::with_key(arguments, member, &idempotency::key(log.run(), number)),
                None => arguments,
            };
            if log.gate().asked_before(number).is_some() {
                // This process may not know the tool yet. If it stays unknown, nothing is sent.
                toolbox.server(server).await;
            }
            let measures = toolbox.judge_of(&path).is_some_and(|(judge, _)| judge.measures());
            let measuring = measures.then(|| CountingCalls {
                toolbox: toolbox.clone(),
                caller: caller.clone(),
                limit,
                locks: locks.clone(),
                log: Some(log.clone()),
                number,
                made: AtomicU64::default(),
            });
            let who = who.with_measuring(measuring);
            // If the run made this call before it was put aside, the rules have already counted it.
            let asked_before = log.gate().asked_before(number);
            let counted = match asked_before {
                None => who.clone(),
                Some(_) => who.counted(),
            };
            let checked = toolbox.checked(&path, arguments, &counted).await;
            drop(turn);
            let checked = match (checked, asked_before) {
                (Ok(checked), Some(_)) => Err(NotSent::MustBeAsked(Box::new(Held::asked_before(checked)))),
                (Err(not_sent), Some(question)) if !matches!(not_sent, NotSent::MustBeAsked(_)) => {
                    log.withdraw(question);
                    Err(not_sent)
                }
                (checked, _) => checked,
            };
            let repeat = (toolbox.may_repeat(&path), toolbox.key_argument(&path).is_some());
            let permit = Mutex::new(None);
            let enter = || -> BoxFuture<'_, Result<(), LockError>> {
                async {
                    let entered = locks.enter(server, total, &waits).await?;
                    *permit.lock() = Some(entered);
                    Ok(())
                }
                .boxed()
            };
            let checked = match checked {
                Ok(checked) => Ok(checked),
                Err(NotSent::Refused(refusal)) => {
                    return Err(CallError::refused(refusal.message).with_hint(refusal.hint));
                }
                Err(NotSent::NotAPath(fault)) => return Err(CallError::new(fault.to_string())),
                Err(NotSent::Denied(denial)) => Err(denial),
                Err(NotSent::MustBeAsked(held)) => {
                    let (toolbox, log, who, path, room) = (&toolbox, &log, &who, &path, room.as_ref());
                    held.settle(&Asking {
                        toolbox,
                        log,
                        who,
                        approvals,
                        teller: teller.as_ref(),
                        room,
                        number,
                        path,
                        effect: trusted,
                        may_repeat: repeat.0,
                        enter: &enter,
                    })
                    .await
                }
            };
            let checked = match checked {
                Ok(checked) => checked,
                Err(denial) => {
                    // It was already sent, whatever the rules say now.
                    if log.unsettled().has(number)
                        && let Some((answer, _)) = log.settled((number, &path), effect, None, (false, repeat.1)).await
                    {
                        return answer;
                    }
                    log.denied(number, &path, (effect, trusted), &denial).await;
                    return Err(CallError::denied(denial));
                }
            };
            let Checked { arguments, warning, decision } = checked;
            let is_approved = decision.as_ref().is_some_and(|decision| decision.verdict == Verdict::Ask);
            let caller = if is_approved { caller.once() } else { caller };
            let counts_for = toolbox.counts_for(&path, &arguments, who.principal());
            if let Some(decision) = &decision {
                log.judged(number, &path, decision);
            }
            if let Some(warning) = warning {
                remarks.add(warning);
            }
            if trusted != Effect::ReadOnly
                && let Some((answer, remark)) = log.settled((number, &path), effect, Some(&arguments), repeat).await
            {
                remark.into_iter().for_each(|remark| remarks.add(remark));
                return answer;
            }
            let _permit = match permit.into_inner() {
                Some(permit) => permit,
                None => locks.enter(server, total, &waits).await.map_err(refused)?,
            };
            let mut observer = toolbox.observer(&path, &arguments);
            let effects = (effect, trusted, repeat.0);
            let sent = log
                .sending(number, &path, effects, (&arguments, Content::Of(&toolbox)), decision.as_ref())
                .await
                .map_err(|fault| CallError::new(format!("the call was not made: {fault}")).with_hint(fault.hint()))?;
            let caller = match log.is_followed() {
                true => {
                    let log = log.clone();
                    let heard = move |text: &str| {
                        log.tell(|| RunStep::Progress { call: number, text: text.to_owned() });
                    };
                    caller.with_progress(Arc::new(heard))
                }
                false => caller,
            };
            let caller = match log.span_of(number) {
                Some(span) => caller.with_trace(span),
                None => caller,
            };
            let answer = match toolbox.is_skill(&path) {
                true => Ok(may_run()),
                false => upstream.call_text(&path, arguments, limit, &caller).await,
            };
            let answer = match answer {
                Ok(raw) => {
                    let (taken, remark, to_record) = toolbox.taken(&path, observer, raw).await;
                    observer = to_record;
                    match remark {
                        Some(remark) if remark.is_certain => remarks.add(remark.text),
                        Some(remark) => remarks.tell(remark.text),
                        None => {}
                    }
                    Ok(taken)
                }
                failed => failed,
            };
            let has_failed = sent.ended(answer.as_ref().ok()).await;
            if let Some(counts_for) = counts_for.filter(|_| !has_failed) {
                counts_for.succeeded(Some(log.run()), Some((who.gates(), number))).await;
            }
            // Before the answer is handed to anybody.
            let remembered = toolbox.remember(&path, who.principal(), log.run()).await;
            remembered.map_err(|withheld| CallError::new(withheld.of_call()))?;
            let answer = match (answer, holder.as_ref().zip(toolbox.artifacts())) {
                (Ok(answer), Some((holder, artifacts))) if !toolbox.hides_in_answers(&path) => {
                    let labels = toolbox.carried_with(&who, &path);
                    let (files, remarks) = (&*files, &*remarks);
                    Ok(Apart { artifacts, holder, run: log.run(), labels, files, remarks }.from(answer).await)
                }
                (answer, _) => answer,
            };
            if let (Some(observer), Ok(answer)) = (&observer, &answer) {
                observer.record(answer);
            }
            if let Some(remark) = answer.as_ref().ok().and_then(|answer| unmarked::remark(&path, answer)) {
                remarks.add(remark);
            }
            answer.map_err(|fault| match fault.hint() {
                Some(hint) => CallError::new(fault.to_string()).with_hint(hint),
                None => CallError::new(fault.to_string()),
            })
        }
        .boxed()
    }
}

/// The room for an answer, as the child's connection requests it.
struct Gate(AnswerRoom);

impl AnswerGate for Gate {
    fn admit(&self, bytes: usize) -> BoxFuture<'_, ()> {
        self.0.admit(bytes).boxed()
    }
}

impl Tools for Grant {
    fn announce(&self, number: u64, tool: &GrantedTool) -> Box<dyn Send> {
        let announced = self.announced.clone();
        announced.put(number, self.begun(&tool.path));
        Box::new(Announcement { announced, number })
    }

    fn handing_over(&self, number: u64, tool: &ToolPath, answer: Result<&JsonText, &CallError>) {
        // The child may have written part of a fault too. It has no part in a call that was never
        // sent.
        let was_sent = answer.err().is_none_or(|fault| !fault.is_refusal && fault.denial.is_none());
        if was_sent && !tool.is_lock() {
            self.who.labels().add(self.toolbox.labels_of(tool));
            self.who.gates().hand_over(number);
        }
    }

    fn observe(&self, step: RunStep) {
        self.log.tell(|| step);
    }

    fn put_aside(&self, open: u64, recorded: Option<u64>) -> BoxFuture<'_, bool> {
        async move {
            let has_server = self.locks.has_any().then(|| "it has a server for itself".to_owned());
            let refusal = match (has_server, self.approvals) {
                (Some(refusal), _) => Some(refusal),
                (None, Some(approvals)) => self.log.cannot_rest(recorded, approvals.max_resting).await,
                (None, None) => Some("nobody can decide later".to_owned()),
            };
            match refusal {
                Some(refusal) => {
                    self.log.gate().refuse(refusal);
                    false
                }
                None => self.log.gate().close(open),
            }
        }
        .boxed()
    }

    fn is_watched(&self) -> bool {
        self.log.is_watched()
    }

    fn namespaces(&self) -> Vec<Namespace> {
        self.toolbox
            .names()
            .map(|names| Namespace::new(names.exact(), names.bound().map(str::to_owned).collect()))
            .collect()
    }

    fn directory(&self, namespace: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        let known = self.position(namespace);
        async move {
            let Some(namespace) = known else {
                return Err(Unavailable { reason: "the server is not configured any more".to_owned() });
            };
            // Checked before anything is started: whoever asks may not be the component that was
            // read.
            if !self.has_granted(namespace) {
                return Err(Unavailable { reason: "the run has no tool of this server".to_owned() });
            }
            // A component finds tools by names from its input, and is not told of a tool that a
            // list on disk lacks. If the server cannot be started, that list is used.
            if let Some(Granted::Any) = &self.only {
                self.toolbox.look_again(self.toolbox.name_of(namespace)).await;
            }
            let server = match &self.planned {
                Some(_) => self.toolbox.known_already(namespace).await.map(Ok),
                None => self.toolbox.server(namespace).await,
            };
            let Some(server) = server else {
                return Err(Unavailable { reason: format!("there is no namespace {namespace}") });
            };
            let server = server.map_err(|fault| {
                let hint = fault.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
                let name = self.toolbox.names().nth(namespace).map(|names| names.exact()).unwrap_or_default();
                Unavailable { reason: format!("server '{name}' is not available: {}{hint}", fault.reason()) }
            })?;
            let is_granted = |path: &ToolPath| match &self.only {
                Some(Granted::These(only)) => only.contains(path),
                // Whether the server is granted was checked above.
                None | Some(Granted::Any) => true,
            };
            let tools = server.tools().iter().filter(|tool| !tool.path().is_lock() && is_granted(tool.path()));
            let properties = tools.flat_map(|tool| {
                let granted = GrantedTool { path: tool.path().clone(), effect: tool.effect() };
                // A component finds tools by their exact names: an alias may belong to another tool
                // some day.
                let names: Vec<&str> = match &self.only {
                    Some(_) => vec![tool.path().tool()],
                    None => tool.names().bound().collect(),
                };
                names.into_iter().map(|name| (name.to_owned(), granted.clone())).collect::<Vec<_>>()
            });
            // A run with its own set of tools has no lock functions. Its locks come from the text
            // that stands in for its source.
            let has_none = self.only.is_some() || self.toolbox.sharing(namespace) == Sharing::Free;
            let locks = if has_none { &[][..] } else { &[ACQUIRE, RELEASE] };
            let locks = locks.iter().map(|name| {
                let path = ToolPath::new(server.name(), *name);
                ((*name).to_owned(), GrantedTool { path, effect: Effect::ReadOnly })
            });
            // A server may have chosen the same alias: of two entries with one name, the first
            // counts.
            Ok(Arc::new(Directory::new(locks.chain(properties))))
        }
        .boxed()
    }

    fn call(
        &self,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        // A sandbox starts its calls through `begin`, which has their numbers.
        self.call_as((self.caller.clone(), None), UNNUMBERED, tool, arguments, limit)
    }

    fn begin(
        &self,
        number: u64,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
        room: AnswerRoom,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        self.log.is_live();
        let caller = self.caller.with_gate(Arc::new(Gate(room.clone())));
        self.call_as((caller, Some(room)), number, tool, arguments, limit)
    }

    fn list(&self, server: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        async move {
            let catalog = self.toolbox.catalog(server.as_deref()).await;
            let Some(name) = &server else {
                return Ok(self.toolbox.list(&catalog, None, || summaries(catalog.tools())));
            };
            match catalog.server(name).or_else(|| catalog.namespace(name)) {
                Some(server) => {
                    Ok(self.toolbox.list(&catalog, Some(server.name()), || summaries(server.tools().iter())))
                }
                None => Err(script_answers::no_such_server(&catalog, name)),
            }
        }
        .boxed()
    }

    fn search(&self, query: String, limit: usize) -> BoxFuture<'_, JsonText> {
        async move {
            let answer = self.toolbox.search(&script_answers::question(query, limit)).await;
            JsonText::from_value(&script_answers::found(&answer))
        }
        .boxed()
    }

    fn artifacts(&self, question: String) -> BoxFuture<'_, Result<JsonText, NotAnswered>> {
        async move {
            let of_run = self.toolbox.artifacts().zip(self.holder.as_ref());
            // A guest, or its process, may ask whatever its program contains.
            let Some((artifacts, holder)) = of_run.filter(|_| self.has_artifacts) else {
                let hint = "return the value instead; belljar's owner can turn them on with [artifacts]";
                return Err(NotAnswered::new("there are no artifacts in this run", hint));
            };
            self.count_question("artifacts")?;
            self.log.is_live();
            let carrier = Carrier { who: &self.who, run: self.log.run() };
            let (toolbox, remarks) = (&*self.toolbox, &*self.remarks);
            Answering { artifacts, toolbox, holder, carrier, remarks }.answer(question).await
        }
        .boxed()
    }

    fn plan(&self, calls: PlannedCalls) -> BoxFuture<'_, Vec<Finding>> {
        async move {
            let (toolbox, ceiling, who) = (&*self.toolbox, self.ceiling, &self.who);
            let planning = Planning { toolbox, ceiling, who, may_start: self.planned.is_none() };
            let judged = planning.judged(&calls, |namespace| self.position(namespace)).await;
            let Some(planned) = &self.planned else { return judged.into_iter().map(|each| each.finding).collect() };
            // The known list may be outdated, so nothing is certain for the script.
            let findings = vec![Finding::Nothing; judged.len()];
            let allows_all = toolbox.policy().is_none();
            let of_call = |(call, judged): (belljar_sandbox::PlannedCall, _)| {
                let server = self.position(call.server).map(|server| toolbox.name_of(server)).unwrap_or_default();
                CallPlan::new(call, server, judged, allows_all)
            };
            let PlannedCalls { calls, more, others } = calls;
            let calls = calls.into_iter().zip(judged).map(of_call).collect();
            *planned.lock() = Some(ScriptCalls { calls, more, others });
            findings
        }
        .boxed()
    }

    fn keep(&self, question: String) -> BoxFuture<'_, Result<JsonText, NotAnswered>> {
        async move {
            match &self.keeps {
                Some(keeps) => {
                    self.count_question("kept values")?;
                    keeps.answer(question, &self.who).await
                }
                None => Err(NotAnswered::new("nothing is kept from this run", "return the value instead")),
            }
        }
        .boxed()
    }

    fn route(&self, server: String, words: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        std::future::ready(self.toolbox.route(&server, words.as_deref())).boxed()
    }

    fn describe(&self, path: String) -> BoxFuture<'_, Result<JsonText, String>> {
        async move {
            let server = path.split_once('.').map(|(server, _)| server);
            let catalog = self.toolbox.catalog(server).await;
            let tool = catalog.lookup(&path).ok_or_else(|| {
                if let Some(denial) = path.parse().ok().and_then(|path| self.toolbox.denied(&path)) {
                    return denial.message;
                }
                script_answers::no_such_tool(&catalog, &path, |near| self.toolbox.signature_of(near))
            });
            let tool = match tool {
                Ok(tool) => tool,
                // Its file is gone since the run began.
                Err(missing) => return path.parse().ok().and_then(|path| self.skills.alone(&path)).ok_or(missing),
            };
            let observed = self.toolbox.observed(tool.path());
            let described = script_answers::described(tool, observed.as_deref());
            Ok(JsonText::from_value(&self.with_script(tool.path(), described)))
        }
        .boxed()
    }
}

/// The lock's answer.
fn nothing() -> JsonText {
    JsonText::from_value(&json!({ "content": [] }))
}

fn summaries<'t>(tools: impl Iterator<Item = &'t Tool>) -> JsonText {
    JsonText::from_value(&script_answers::listed(tools))
}
