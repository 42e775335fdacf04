//! The queue of microtasks.

use std::{
    cell::RefCell,
    collections::VecDeque,
    future::Future as _,
    pin::pin,
    rc::Rc,
    task::{Context as TaskContext, Poll, Waker},
};

use boa_engine::{
    Context, JsResult,
    job::{GenericJob, Job, JobExecutor, NativeAsyncJob, PromiseJob},
};

enum Microtask {
    Promise(PromiseJob),
    Generic(GenericJob),
    Async(NativeAsyncJob),
}

/// Runs promise jobs in the order in which they came, until none is left. It never waits: what
/// takes time is [`pending`](crate::pending).
#[derive(Default)]
pub(crate) struct JobQueue {
    queue: RefCell<VecDeque<Microtask>>,
}

impl JobExecutor for JobQueue {
    fn enqueue_job(self: Rc<Self>, job: Job, _: &mut Context) {
        let microtask = match job {
            Job::PromiseJob(job) => Microtask::Promise(job),
            Job::GenericJob(job) => Microtask::Generic(job),
            Job::AsyncJob(job) => Microtask::Async(job),
            // The callbacks of a FinalizationRegistry, which need never run.
            _ => return,
        };
        self.queue.borrow_mut().push_back(microtask);
    }

    fn run_jobs(self: Rc<Self>, context: &mut Context) -> JsResult<()> {
        loop {
            let next = self.queue.borrow_mut().pop_front();
            match next {
                Some(Microtask::Promise(job)) => {
                    job.call(context)?;
                }
                Some(Microtask::Generic(job)) => {
                    job.call(context)?;
                }
                Some(Microtask::Async(job)) => poll_once(job, context)?,
                None => break,
            }
        }
        context.clear_kept_objects();
        Ok(())
    }
}

/// `import()` is refused at once. `Atomics.waitAsync` is never notified, since there is no second
/// agent, so it is let go of.
fn poll_once(job: NativeAsyncJob, context: &mut Context) -> JsResult<()> {
    let context = RefCell::new(context);
    let polled = pin!(job.call(&context)).poll(&mut TaskContext::from_waker(Waker::noop()));
    match polled {
        Poll::Ready(Err(error)) => Err(error),
        _ => Ok(()),
    }
}
