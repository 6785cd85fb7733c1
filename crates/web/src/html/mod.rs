//! HTML into a tree: html5ever's tokenizer and tree builder, with guards between the two and a tree
//! of our own behind them.

mod parse;
mod tags;
mod tree;

pub use parse::Document;
pub(crate) use tags::{AttrName, Tag};
pub(crate) use tree::{Kind, NodeId, Tree};
