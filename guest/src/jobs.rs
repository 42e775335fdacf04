//! The queue of microtasks.

use std::{cell::RefCell, collections::VecDeque, rc::Rc};

use boa_engine::{
    Context, JsResult,
    job::{GenericJob, Job, JobExecutor, PromiseJob},
};

enum Microtask {
    Promise(PromiseJob),
    Generic(GenericJob),
}

/// Runs promise jobs in the order in which they came, until none is left. It never waits: what takes time is
/// [`pending`](crate::pending).
#[derive(Default)]
pub(crate) struct JobQueue {
    queue: RefCell<VecDeque<Microtask>>,
}

impl JobExecutor for JobQueue {
    fn enqueue_job(self: Rc<Self>, job: Job, _: &mut Context) {
        let microtask = match job {
            Job::PromiseJob(job) => Microtask::Promise(job),
            Job::GenericJob(job) => Microtask::Generic(job),
            // `Atomics.waitAsync` and the callbacks of a FinalizationRegistry: the latter need never run, and the former cannot
            // be notified, since there is no second agent.
            _ => return,
        };
        self.queue.borrow_mut().push_back(microtask);
    }

    fn run_jobs(self: Rc<Self>, context: &mut Context) -> JsResult<()> {
        loop {
            let next = self.queue.borrow_mut().pop_front();
            match next {
                Some(Microtask::Promise(job)) => job.call(context)?,
                Some(Microtask::Generic(job)) => job.call(context)?,
                None => break,
            };
        }
        context.clear_kept_objects();
        Ok(())
    }
}
