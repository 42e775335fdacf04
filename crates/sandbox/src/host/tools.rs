//! The imports of `tools`: directories, handles, calls.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::{Context, Waker},
    time::Instant,
};

use belljar_model::{JsonBounds, JsonText, LimitHit, LimitName};
use belljar_recording::{Entry, Recording};
use futures::FutureExt as _;
use wasmtime::{
    StoreContextMut,
    component::{Linker, Resource, ResourceType},
};

use super::state::RunState;
use crate::{
    AnswerRoom, CallError, Directory, GrantedTool,
    calls::{MAX_ERROR, arguments_error, bounded, panicked, record},
    handle::Handle,
    holdings::Place,
    inbox::{Answer, Kept},
    overflow::Overflow,
};

/// Links the interface by hand: the generated code does not give a function the store, and only the
/// store knows the fuel that has been used when a call begins.
pub(super) fn link(linker: &mut Linker<RunState>) -> wasmtime::Result<()> {
    let mut tools = linker.instance("belljar:sandbox/tools@0.1.0")?;
    tools.resource("tool", ResourceType::host::<Handle>(), |mut store: StoreContextMut<'_, RunState>, handle| {
        store.data_mut().handles.delete(Resource::<Handle>::new_own(handle))?;
        Ok(())
    })?;
    tools.func_wrap_async("directory", |mut store: StoreContextMut<'_, RunState>, (namespace,): (u32,)| {
        Box::new(async move { Ok((store.data_mut().directory(namespace).await?,)) })
    })?;
    tools.func_wrap("open", |mut store: StoreContextMut<'_, RunState>, (namespace, entry): (u32, u32)| {
        Ok((store.data_mut().open(namespace, entry)?,))
    })?;
    tools.func_wrap(
        "[method]tool.begin",
        |mut store: StoreContextMut<'_, RunState>, (handle, arguments): (Resource<Handle>, String)| {
            let fuel_left = store.get_fuel()?;
            Ok((store.data_mut().begin_call(&handle, arguments, fuel_left)?,))
        },
    )
}

impl RunState {
    async fn directory(&mut self, namespace: u32) -> wasmtime::Result<Result<String, String>> {
        let number = namespace;
        let namespace = namespace as usize;
        match self.directories.get(namespace) {
            None => return Ok(Err(format!("there is no namespace {namespace}"))),
            Some(None) => {
                let directory: Result<Arc<Directory>, String> = match &mut self.stand_in {
                    Some(stand_in) => stand_in.directory(number)?.map(Arc::new),
                    None => {
                        let directory = self.turn.wait_for(self.tools.directory(namespace)).await;
                        directory.map_err(|unavailable| unavailable.reason)
                    }
                };
                self.recorder.directory(number, directory.as_deref().map_err(String::as_str));
                if let Some(place) = self.directories.get_mut(namespace) {
                    *place = Some(directory);
                }
            }
            Some(Some(_)) => {}
        }
        Ok(match self.directories.get(namespace) {
            Some(Some(Ok(directory))) => Ok(directory.names().to_owned()),
            Some(Some(Err(reason))) => Err(reason.clone()),
            _ => Err(format!("there is no namespace {namespace}")),
        })
    }

    fn open(&mut self, namespace: u32, entry: u32) -> wasmtime::Result<Result<Resource<Handle>, String>> {
        let directory = self.directories.get(namespace as usize).and_then(Option::as_ref);
        let tool = match directory {
            Some(Ok(directory)) => directory.tool(entry as usize),
            _ => None,
        };
        let Some(tool) = tool.cloned() else {
            return Ok(Err(format!("entry {entry} of namespace {namespace} is not in this run's grant")));
        };
        Ok(Ok(self.handles.push(Handle(tool))?))
    }

    /// Starts a call, and moves it to a task of its own if its answer is not there at once.
    fn begin_call(&mut self, handle: &Resource<Handle>, arguments: String, fuel_left: u64) -> wasmtime::Result<u32> {
        let tool = self.handles.get(handle)?.0.clone();
        if self.calls >= self.limits.max_calls {
            let hit = LimitHit { name: LimitName::MaxCalls, max: self.limits.max_calls, used: self.calls + 1 };
            return Err(self.exceeded(hit));
        }
        let (open, max) = (self.journal.open_calls(), self.limits.max_concurrent_calls);
        if open >= max {
            return Err(self.exceeded(LimitHit { name: LimitName::MaxConcurrentCalls, max, used: open + 1 }));
        }
        let begun = self.admit()?;
        let number = u64::from(begun);
        self.calls += 1;
        let bytes = arguments.len();
        let fuel = self.limits.fuel.saturating_sub(fuel_left);
        if let Some(stand_in) = &mut self.stand_in {
            stand_in.call(number, &tool.path, &arguments, fuel)?;
        }
        self.recorder.call(number, &tool, &arguments, fuel);
        if let Err(hit) = self.journal.begin(number, tool.clone(), bytes, self.last_place) {
            let fault = no_room(bytes, &hit);
            self.journal.refused(&fault.message, hit);
            if self.stand_in.is_none() {
                self.inbox.put(number, Answer { result: Err(fault), record: None });
            }
            return Ok(begun);
        }
        if self.stand_in.is_none() {
            self.make_call(number, tool, arguments);
        }
        Ok(begun)
    }

    /// Makes the unanswered calls of a suspended run, with their original arguments.
    pub(super) fn make_calls_again(&mut self, recording: &Recording) {
        let open: BTreeMap<u64, GrantedTool> = self.journal.open_tools().into_iter().collect();
        for entry in recording.entries() {
            if let Entry::Call { number, arguments, .. } = entry
                && let Some(tool) = open.get(&number)
            {
                self.make_call(number, tool.clone(), arguments.to_owned());
            }
        }
    }

    fn make_call(&mut self, number: u64, tool: GrantedTool, arguments: String) {
        let room = Wanted(AnswerRoom::new(self.holdings.clone(), self.parking.clone()));
        let bounds = JsonBounds::with_bytes(as_size(self.limits.max_arguments.as_u64()));
        let call = match JsonText::parse(arguments, &bounds) {
            Ok(arguments) => {
                let begin = || self.tools.begin(number, &tool, arguments, self.limits.call, room.0.clone());
                // A panicking tool has failed, and nothing else has.
                catch_unwind(AssertUnwindSafe(begin)).map_err(|_| panicked())
            }
            Err(fault) => Err(arguments_error(&fault)),
        };
        let (inbox, journal, overflow) = (self.inbox.clone(), self.journal.clone(), self.overflow.clone());
        let max_result = self.limits.max_result.as_u64();
        let answers = self.answers_of(&tool);
        let start = Instant::now();
        let called = async move {
            let result = match call {
                Ok(call) => AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| Err(panicked())),
                Err(fault) => Err(fault),
            };
            let result = result.and_then(|result| {
                journal.received(result.as_str().len());
                bounded(result, max_result)
            });
            let mut record = record(&tool, answers, &result, start);
            let result = match result {
                Ok(result) => room.keep(result, &overflow).await,
                Err(fault) => Err(fault),
            };
            if let (Err(fault), Some(record)) = (&result, &mut record) {
                record.ok = false;
                record.error.get_or_insert_with(|| fault.message.chars().take(MAX_ERROR).collect());
            }
            inbox.put(number, Answer { result, record });
        };
        let mut called = Box::pin(called);
        // Many tools can answer at once, or only need to send a request: that is done here. A
        // separate task costs a switch of threads each way.
        let polled = called.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_pending() {
            while self.tasks.try_join_next().is_some() {}
            self.tasks.spawn(called);
        }
    }
}

/// Room for an answer that is wanted as long as this exists.
struct Wanted(AnswerRoom);

impl Wanted {
    /// Keeps the answer where there is room for it, until the guest takes it.
    async fn keep(&self, answer: JsonText, overflow: &Overflow) -> Result<Kept, CallError> {
        self.0.admit(answer.as_str().len()).await;
        match self.0.take() {
            Some(held) if held.place() == Place::File => {
                overflow.write(answer, held).await.map(Kept::There).map_err(|error| {
                    let message = format!(
                        "the answer came, and could not be written to the file in which it was to wait: {error}"
                    );
                    CallError::new(message).with_hint(
                        "the call has taken effect; await calls in smaller groups, so that no answer has to wait",
                    )
                })
            }
            room => Ok(Kept::Here { text: answer, room }),
        }
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

fn no_room(bytes: usize, hit: &LimitHit) -> CallError {
    let LimitHit { name, max, used, .. } = hit;
    CallError::new(format!(
        "the call was not made: its arguments have {bytes} bytes, and with them the host would hold {used} bytes for this run; \
         {name} is {max}"
    ))
    .with_hint("await calls in smaller groups, or send less at once")
}

fn as_size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
