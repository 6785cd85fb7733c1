//! What the source alone tells about a script, as tables.

mod corpus;
mod entry;
mod forbidden;
mod free;
mod hostile;
mod properties;
mod returns;
mod support;
mod syntax;
