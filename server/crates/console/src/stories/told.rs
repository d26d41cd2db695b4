//! The story that a sandbox tells, and how far it has come.

use serde::Serialize;

use super::{
    expected,
    file::{Act, Story},
};
use crate::{clock, loans, refusal::ConsoleRefusal};
use base::error::Failure;
use lending::events::{EventKind, Trail};
use store::{Connection, query, query_as};
use worlds::{
    faults,
    sandboxes::{Sandbox, sync},
};

/// The story of a sandbox, as it is stored.
#[derive(Clone, Debug, sqlx_macros::FromRow)]
pub struct Told {
    pub name: String,
    /// The text of the file, as it was when the sandbox was made.
    pub content: String,
    done: i64,
    acted: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    pub name: String,
    pub title: String,
    pub text: Option<String>,
    pub steps: Vec<ToldStep>,
}

impl Progress {
    /// Returns whether the step that is next has an act that is not done yet.
    pub fn may_go_on(&self) -> bool {
        self.steps.iter().any(|step| step.is_act_due)
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct ToldStep {
    pub say: String,
    /// The act of the console in this step, as a sentence; `None` if there is none.
    pub act: Option<&'static str>,
    /// The conditions that hold at the end of the step, one sentence each.
    pub expected: Vec<String>,
    /// The state found in place of each condition that does not hold yet, one sentence each, if this step is next.
    pub found: Vec<String>,
    pub state: StepState,
    /// `true` if it is next and its act is not done yet.
    #[serde(skip)]
    pub is_act_due: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    Done,
    Next,
    Later,
}

const TOLD: &str = "SELECT name, content, done, acted FROM story";

const TELL: &str = "INSERT INTO story (story_id, name, content) VALUES ('story', $1, $2)";

const SET_DONE: &str = "UPDATE story SET done = $2, acted = FALSE WHERE done = $1";

const CLAIM: &str = "UPDATE story SET acted = TRUE WHERE done = $1 AND NOT acted";

/// Stores that this sandbox, which tells none yet, tells the story `name` with the text `content`, from its first step.
pub(super) async fn tell(connection: &mut Connection, name: &str, content: &str) -> Result<(), Failure> {
    Ok(query(TELL).bind(name).bind(content).run(connection).await?)
}

pub(super) async fn stored(sandbox: &Sandbox) -> Result<Option<(Told, Story)>, Failure> {
    let told: Option<Told> = query_as(TOLD).fetch_optional(&mut sandbox.database.read().await?).await?;
    let Some(told) = told else { return Ok(None) };
    // Not checked again: a later version of the server may refuse more than the one that made the sandbox.
    let story = Story::parse(&told.name, &told.content);
    let story = story.map_err(|bad| Failure::Internal(format!("the story of a sandbox: {bad}")))?;
    Ok(Some((told, story)))
}

/// The progress of this sandbox's story; `None` if it tells none.
pub async fn progress(sandbox: &Sandbox) -> Result<Option<Progress>, Failure> {
    let found = look(sandbox).await?;
    Ok(found.map(|(told, story, unmet)| told.progress(story, &unmet)))
}

/// The story of this sandbox, and the result of [`expected::unmet`] for its next step; `None` if it tells none. Stores
/// the steps that are found to be done: they stay done, whatever happens later.
async fn look(sandbox: &Sandbox) -> Result<Option<(Told, Story, Vec<String>)>, Failure> {
    let Some((mut told, story)) = stored(sandbox).await? else { return Ok(None) };
    let before = told.done;
    let mut unmet = Vec::new();
    while let Some(step) = story.steps.get(told.index()) {
        if step.act.is_some() && !told.acted {
            break;
        }
        if let Some(expect) = &step.expect {
            unmet = expected::unmet(sandbox, &expect.0).await?;
        }
        if !unmet.is_empty() {
            break;
        }
        told.done += 1;
        told.acted = false;
    }
    if told.done > before {
        set_done(sandbox, before, told.done).await?;
    }
    Ok(Some((told, story, unmet)))
}

/// Stores that `done` steps in place of `before` are done, and that the act of the next one is not.
async fn set_done(sandbox: &Sandbox, before: i64, done: i64) -> Result<(), Failure> {
    sandbox.database.execute(query(SET_DONE).bind(before).bind(done)).await?;
    Ok(())
}

/// Does the act of the step that is next, if it has one that is not done yet, and if it is the one with the index
/// `meant`, where the caller says so: somebody else may have gone on meanwhile. Returns the progress of the story then.
///
/// # Errors
/// [`ConsoleRefusal::NoStory`]; those of the act, then it can be tried again.
pub async fn go_on(sandbox: &Sandbox, meant: Option<usize>, trail: &Trail) -> Result<Progress, Failure> {
    let (told, story, _) = look(sandbox).await?.ok_or(ConsoleRefusal::NoStory)?;
    let act = story.steps.get(told.index()).and_then(|step| step.act.clone());
    // Of two callers at once, one does the act.
    let is_meant = meant.is_none_or(|meant| meant == told.index());
    if let Some(act) = act.filter(|_| !told.acted && is_meant)
        && told.claim(sandbox).await?
    {
        let trail = trail.clone().all_of(EventKind::StoryGoneOn);
        if let Err(failure) = run(sandbox, act, &trail).await {
            // It can be tried again.
            set_done(sandbox, told.done, told.done).await?;
            return Err(failure);
        }
        sync::reload(sandbox).await?;
    }
    progress(sandbox).await?.ok_or(ConsoleRefusal::NoStory.into())
}

async fn run(sandbox: &Sandbox, act: Act, trail: &Trail) -> Result<(), Failure> {
    match act {
        Act::Clock(change) => clock::set(sandbox, change, trail).await.map(drop),
        Act::Scenario(change) => sandbox.mobile_money.change_scenario(change, trail).await.map(drop),
        Act::Fault(fault) => faults::add(&sandbox.world, fault, trail).await.map(drop),
        Act::EndFaults => faults::remove(&sandbox.world, None, trail).await,
        Act::Loan(loan) => loans::approve(sandbox, 1, *loan, trail).await.map(drop),
    }
}

impl Act {
    fn sentence(&self) -> &'static str {
        match self {
            Self::Clock(_) => "Set the clock.",
            Self::Scenario(_) => "Change the outcomes of payouts.",
            Self::Fault(_) => "Add a fault.",
            Self::EndFaults => "Remove all faults.",
            Self::Loan(_) => "Approve a loan.",
        }
    }
}

impl Told {
    fn index(&self) -> usize {
        usize::try_from(self.done).unwrap_or(usize::MAX)
    }

    /// Stores that the act of the next step is done. Returns `false` if somebody else was first.
    async fn claim(&self, sandbox: &Sandbox) -> Result<bool, Failure> {
        Ok(sandbox.database.execute(query(CLAIM).bind(self.done)).await? == 1)
    }

    fn progress(&self, story: Story, unmet: &[String]) -> Progress {
        let next = self.index();
        let steps = story.steps.into_iter().enumerate().map(|(index, step)| {
            let state = match index.cmp(&next) {
                std::cmp::Ordering::Less => StepState::Done,
                std::cmp::Ordering::Equal => StepState::Next,
                std::cmp::Ordering::Greater => StepState::Later,
            };
            ToldStep {
                act: step.act.as_ref().map(Act::sentence),
                expected: step
                    .expect
                    .as_ref()
                    .map(|expect| expected::sentences(&expect.0))
                    .unwrap_or_default(),
                found: if state == StepState::Next { unmet.to_vec() } else { Vec::new() },
                is_act_due: state == StepState::Next && step.act.is_some() && !self.acted,
                say: step.say.0,
                state,
            }
        });
        let steps = steps.collect();
        Progress { name: self.name.clone(), title: story.title.0, text: story.text, steps }
    }
}
