//! Training whose shares are worked on elsewhere.
//!
//! Trainers divide their work into shares that are pure functions of bytes: what a shard of the data makes of
//! weights in an epoch, or the gradient of a range of the examples. A [`Courier`] takes the state that all
//! shares begin from to wherever the workers are, and brings the answers back in the order of the shares; who
//! worked, how many they were, and how often one had to begin anew changes nothing. A [`Worker`] runs the
//! same training, with the same data, up to the place where the shares begin, and then works on those that it
//! is asked for. The trainings of one task are stages: a worker passes one whose weights it is given.

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::LearnError;

/// Where the shares of a training are worked on.
#[derive(Debug, Clone, Copy, Default)]
pub enum Place<'p> {
    /// Here, on the run's threads.
    #[default]
    Here,
    /// By workers; this run puts together what they send.
    Elsewhere(&'p Courier<'p>),
    /// This run is a worker's.
    Worker(&'p Desk),
}

/// A way to the workers and back.
#[derive(Debug)]
pub struct Trip<'t> {
    /// Which training of the task it is, from 0.
    pub stage: usize,
    /// How many shares there are; so many answers are wanted, in their order.
    pub shares: usize,
    /// What every share begins from.
    pub state: &'t [u8],
    /// What became of the stages before this one: a worker that has not come so far passes them with it.
    pub finished: &'t [Vec<u8>],
}

type Carry<'c> = Box<dyn Fn(Trip<'_>) -> Result<Vec<Vec<u8>>, LearnError> + Send + Sync + 'c>;

/// Takes shares to workers. One for each training of a task.
pub struct Courier<'c> {
    carry: Carry<'c>,
    finished: Mutex<Vec<Vec<u8>>>,
}

impl<'c> Courier<'c> {
    /// `carry` has each share worked on by [`Worker::work`].
    pub fn new(carry: impl Fn(Trip<'_>) -> Result<Vec<Vec<u8>>, LearnError> + Send + Sync + 'c) -> Self {
        Self { carry: Box::new(carry), finished: Mutex::default() }
    }

    pub(super) fn carry(&self, state: &[u8], shares: usize) -> Result<Vec<Vec<u8>>, LearnError> {
        let finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = (self.carry)(Trip { stage: finished.len(), shares, state, finished: &finished })?;
        match answers.len() == shares {
            true => Ok(answers),
            false => Err(LearnError::worker(format!("{} answers for {shares} shares", answers.len()))),
        }
    }

    /// The next training begins.
    pub(super) fn finish(&self, outcome: Vec<u8>) {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
    }
}

impl fmt::Debug for Courier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Courier").finish_non_exhaustive()
    }
}

/// What a worker is asked for.
struct Order {
    stage: usize,
    share: usize,
    shares: usize,
    state: Vec<u8>,
    finished: Vec<Vec<u8>>,
    answer: Sender<Result<Vec<u8>, LearnError>>,
}

/// How often somebody who waits for an answer sees whether the training goes on.
const LOOK: Duration = Duration::from_millis(50);

/// Works on shares of a training.
#[derive(Debug)]
pub struct Worker {
    inside: Mutex<Inside>,
}

#[derive(Debug)]
struct Inside {
    orders: Sender<Order>,
    thread: Option<JoinHandle<String>>,
    failure: String,
}

impl Inside {
    /// The answer to an order, or nothing if the training ends without one. An order that comes as the training
    /// ends may be taken by nobody and stay where it is, so the thread is looked at, too.
    fn wait<T>(&self, answered: &Receiver<T>) -> Option<T> {
        loop {
            match answered.recv_timeout(LOOK) {
                Ok(answer) => return Some(answer),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
                return answered.try_recv().ok();
            }
        }
    }
}

impl Worker {
    /// Starts a thread that runs the training; `train` gives the desk to its runs as their
    /// [`Place::Worker`]. Without a watch it ends when the worker is dropped.
    pub fn start<T, E: fmt::Display>(train: impl FnOnce(&Desk) -> Result<T, E> + Send + 'static) -> Self {
        let (orders, received) = channel();
        let desk = Desk { inside: Mutex::new(Waiting { stage: 0, next: None, orders: received }) };
        let work = move || match train(&desk) {
            Ok(_) => "its training has ended".to_owned(),
            Err(error) => error.to_string(),
        };
        let inside = Inside { orders, thread: Some(std::thread::spawn(work)), failure: String::new() };
        Self { inside: Mutex::new(inside) }
    }

    /// Works on one share. The same order gives the same bytes, whatever this worker did before; a stage that
    /// it has left behind is an error.
    pub fn work(&self, trip: &Trip<'_>, share: usize) -> Result<Vec<u8>, LearnError> {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let (answer, answered) = channel();
        let &Trip { stage, shares, state, finished } = trip;
        let (state, finished) = (state.to_vec(), finished.to_vec());
        // The training may have ended, now or before: then it has said why.
        if inside.orders.send(Order { stage, share, shares, state, finished, answer }).is_ok()
            && let Some(answer) = inside.wait(&answered)
        {
            return answer;
        }
        if let Some(thread) = inside.thread.take() {
            inside.failure = thread.join().unwrap_or_else(|_| "its training panicked".to_owned());
        }
        Err(LearnError::worker(&inside.failure))
    }
}

/// Where the training of a worker finds its orders.
#[derive(Debug)]
pub struct Desk {
    inside: Mutex<Waiting>,
}

struct Waiting {
    /// The training that the worker has come to.
    stage: usize,
    /// An order for a later stage than that.
    next: Option<Order>,
    orders: Receiver<Order>,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("stage", &self.stage).finish_non_exhaustive()
    }
}

impl Desk {
    /// Works on shares (state, number, how many there are) of the present training until its outcome is known,
    /// and returns that.
    pub(super) fn serve(
        &self,
        mut work: impl FnMut(&[u8], usize, usize) -> Result<Vec<u8>, LearnError>,
    ) -> Result<Vec<u8>, LearnError> {
        let mut waiting = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let order = match waiting.next.take() {
                Some(order) => order,
                None => waiting.orders.recv().map_err(|_| LearnError::worker("nobody asks it any more"))?,
            };
            if let Some(outcome) = order.finished.get(waiting.stage) {
                let outcome = outcome.clone();
                waiting.stage += 1;
                waiting.next = Some(order);
                return Ok(outcome);
            }
            let answer = match order.stage == waiting.stage {
                true => work(&order.state, order.share, order.shares),
                false => Err(LearnError::worker(format!(
                    "it is at stage {} and was asked for stage {}",
                    waiting.stage, order.stage
                ))),
            };
            // Who asked may have given up.
            let _ = order.answer.send(answer);
        }
    }
}
