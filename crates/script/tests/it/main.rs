//! What the source text alone says about code, as tables of code and expected facts.

mod corpus;
mod entry_points;
mod forbidden_calls;
mod free_names;
mod hostile;
mod properties;
mod return_values;
mod support;
mod syntax;
