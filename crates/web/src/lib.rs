//! The web for agents.

pub mod html;
pub mod markdown;
