//! The author of an act, passed to the code that writes its data, which adds the events.

use std::{fmt::Display, net::IpAddr};

use super::{COMMAND_LINE, EventKind, NewEvent};
use base::{clock::UnixMillis, error::Failure};
use store::{Connection, Transaction};

/// The maximum length of the subject of an act, in characters.
const MAX_ABOUT: usize = 100;

/// The author of an act. A handler can extract that of its call. Without an author, no events are written.
#[derive(Clone, Debug, Default)]
pub struct Trail(Option<Author>);

#[derive(Clone, Debug)]
struct Author {
    at: UnixMillis,
    who: String,
    address: Option<IpAddr>,
    /// The kind of whatever is done, in place of its own.
    kind: Option<EventKind>,
    notes: Vec<String>,
}

/// An entry of the trail: what an act does. It has no password, code, token or phone number.
#[derive(Clone, Debug)]
pub struct Entry {
    kind: EventKind,
    about: Option<String>,
    details: Vec<String>,
}

impl Entry {
    pub fn of(kind: EventKind) -> Self {
        Self { kind, about: None, details: Vec::new() }
    }

    pub fn about(self, about: &str) -> Self {
        Self { about: Some(about.chars().take(MAX_ABOUT).collect()), ..self }
    }

    pub fn about_some(self, about: Option<&str>) -> Self {
        match about {
            Some(about) => self.about(about),
            None => self,
        }
    }

    pub fn with(mut self, name: &str, value: impl Display) -> Self {
        self.details.push(format!("{name}: {value}"));
        self
    }

    pub fn with_some(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

impl Trail {
    /// The trail of acts by `who` from `address`. `at` is base time, without the console's setting.
    pub fn by(who: impl Into<String>, address: Option<IpAddr>, at: UnixMillis) -> Self {
        Self(Some(Author { at, who: who.into(), address, kind: None, notes: Vec::new() }))
    }

    /// The trail of acts by an administrator of the machine.
    pub fn of_command_line(at: UnixMillis) -> Self {
        Self::by(COMMAND_LINE, None, at)
    }

    /// The same author, whose acts have another detail.
    pub fn noting(mut self, note: String) -> Self {
        if let Some(author) = &mut self.0 {
            author.notes.push(note);
        }
        self
    }

    /// The same author, whose acts are events of `kind`, whatever they do.
    pub fn all_of(mut self, kind: EventKind) -> Self {
        if let Some(author) = &mut self.0 {
            author.kind = Some(kind);
        }
        self
    }

    /// Runs `work` in `transaction`, writes the events of `entries` there, too, and commits.
    /// If it fails, neither work nor events are written.
    pub async fn write<T>(
        &self,
        transaction: Transaction,
        entries: impl IntoIterator<Item = Entry>,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let work = async |connection: &mut Connection| Ok((work(connection).await?, entries));
        self.write_done(transaction, work).await
    }

    /// Like [`Trail::write`], with the entries of what `work` says it did.
    pub async fn write_done<T, E: IntoIterator<Item = Entry>>(
        &self,
        mut transaction: Transaction,
        work: impl AsyncFnOnce(&mut Connection) -> Result<(T, E), Failure>,
    ) -> Result<T, Failure> {
        let (done, entries) = work(&mut transaction).await?;
        let author = self.0.as_ref();
        let events = entries.into_iter().filter_map(|entry| author.map(|author| author.event(entry)));
        let events: Vec<NewEvent> = events.collect();
        for event in &events {
            event.add(&mut transaction).await?;
        }
        transaction.commit().await?;
        events.iter().for_each(NewEvent::log);
        Ok(done)
    }

    /// Writes the event of an act that writes nothing else in the database.
    pub async fn write_alone(&self, transaction: Transaction, entry: Entry) -> Result<(), Failure> {
        self.write(transaction, [entry], async |_: &mut Connection| Ok(())).await
    }
}

impl Author {
    fn event(&self, Entry { kind, about, mut details }: Entry) -> NewEvent {
        let event = NewEvent::new(self.at, self.kind.unwrap_or(kind), &*self.who, self.address);
        let event = about.into_iter().fold(event, NewEvent::about);
        details.extend_from_slice(&self.notes);
        if details.is_empty() { event } else { event.details(&details.join(", ")) }
    }
}

base::from_extensions!(Trail, Failure::internal("the call has no trail"));
